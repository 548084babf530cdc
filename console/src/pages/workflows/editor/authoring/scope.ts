import { createContext, useContext } from 'react';
import type { JsonObject } from '#shared/json.ts';
import type { Completable } from '#console/src/parts/code/completion.ts';
import type { evaluate, misspelledIn } from './evaluator.ts';

type Evaluate = typeof evaluate;
type MisspelledIn = typeof misspelledIn;

/** What the texts of the selected node can read, and their values with the state of a run. */
export interface Scope {
  completable: Completable | undefined;
  /** The initial state of the node; undefined if it is unknown. */
  state: JsonObject | undefined;
  /** Why there is no state although a run was selected. */
  problem: string | undefined;
  evaluate: Evaluate | undefined;
  misspelledIn: MisspelledIn | undefined;
}

/** For a field outside the editor, and until the code has loaded. */
export const NO_SCOPE: Scope = {
  completable: undefined,
  state: undefined,
  problem: undefined,
  evaluate: undefined,
  misspelledIn: undefined,
};

export const ScopeContext = createContext<Scope>(NO_SCOPE);

/** The scope of the form around a field; empty outside the editor. */
export const useScope = (): Scope => useContext(ScopeContext);
