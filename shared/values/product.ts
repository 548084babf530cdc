/** The name of the product, in the console, the reference and messages to people. */
export const PRODUCT_NAME = 'Durable workflows';
