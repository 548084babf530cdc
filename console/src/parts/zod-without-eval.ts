import { config } from 'zod';

// The page's CSP blocks eval, which zod would otherwise try. Import this before any schema.
config({ jitless: true });
