import { removeEmptyVariables } from './config.ts';

// The first import of every process of the service: modules are evaluated in the order of their imports.
removeEmptyVariables();
