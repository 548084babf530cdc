/** The feed of orders in the demo data, which templates read. Its name is unique in a new workspace. */
export const DEMO_ORDERS = 'Demo orders';
