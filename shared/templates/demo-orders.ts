/** The feed of orders that the demo data has, and that templates read. Its name is unique in a new workspace. */
export const DEMO_ORDERS = 'Demo orders';
