import { createContext, useContext } from 'react';
import type { JsonObject } from '#shared/json.ts';
import type { Completable } from '#console/src/parts/code/completion.ts';
import type { evaluate, misspelledIn } from './evaluator.ts';

type Evaluate = typeof evaluate;
type MisspelledIn = typeof misspelledIn;

/** What the texts of the selected node can read, and what they give with the state of a run. */
export interface Scope {
  completable: Completable | undefined;
  /** The state with which the node begins; undefined if it is not known. */
  state: JsonObject | undefined;
  /** Why there is no state, although a run was chosen. */
  problem: string | undefined;
  evaluate: Evaluate | undefined;
  misspelledIn: MisspelledIn | undefined;
}

/** Of a field outside of the editor, and before the code is loaded. */
export const NO_SCOPE: Scope = {
  completable: undefined,
  state: undefined,
  problem: undefined,
  evaluate: undefined,
  misspelledIn: undefined,
};

export const ScopeContext = createContext<Scope>(NO_SCOPE);

/** The scope of the form around a field; empty outside of the editor. */
export const useScope = (): Scope => useContext(ScopeContext);
