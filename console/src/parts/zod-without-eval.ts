import { config } from 'zod';

// The page's policy lets no code be made of text, which zod would otherwise try. Imported before any schema.
config({ jitless: true });
