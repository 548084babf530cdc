import { removeEmptyVariables } from './config.ts';

// Must be the first import of every process of the service, because modules are evaluated in the order of their
// imports.
removeEmptyVariables();
