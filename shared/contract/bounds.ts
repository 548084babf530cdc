import { z } from 'zod';
import { dollars } from './common.ts';

const bounds = <Amount extends z.ZodType>(id: string, amount: Amount) =>
  z.object({ min: amount, max: amount.nullable().meta({ description: 'Null: no bound' }) }).meta({
    id,
  });

export const dollarBounds = bounds('DollarBounds', dollars);
export const countBounds = bounds('CountBounds', z.number().min(0));
