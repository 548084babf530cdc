/** How many cards of templates stand side by side, by the width of the window. */
export const cardColumns = { base: 1, sm: 2, lg: 3, xl: 4 };
