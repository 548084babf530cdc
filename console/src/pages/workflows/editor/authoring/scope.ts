import { createContext, useContext } from 'react';
import type { JsonObject } from '#shared/json.ts';
import type { Completable } from '#console/src/parts/code/completion.ts';
import type { evaluate, misspelledIn } from './evaluator.ts';

type Evaluate = typeof evaluate;
type MisspelledIn = typeof misspelledIn;

/** What the texts of the selected node can read, and their values with the state of a run. */
export interface Scope {
  completable: Completable | undefined;
  /** The state that the node had in the run; undefined if it is unknown. */
  recorded: JsonObject | undefined;
  /** The same, with the changes that the member made to it. */
  state: JsonObject | undefined;
  /** The item of the map around the node at one of its steps; undefined outside of maps. */
  itemAt: ((stepKey: string) => unknown) | undefined;
  /** Why there is no state although a run was selected. */
  problem: string | undefined;
  evaluate: Evaluate | undefined;
  misspelledIn: MisspelledIn | undefined;
}

/** For a field outside the editor, and until the code has loaded. */
export const NO_SCOPE: Scope = {
  completable: undefined,
  recorded: undefined,
  state: undefined,
  itemAt: undefined,
  problem: undefined,
  evaluate: undefined,
  misspelledIn: undefined,
};

export const ScopeContext = createContext<Scope>(NO_SCOPE);

/** The scope of the form around a field; empty outside the editor. */
export const useScope = (): Scope => useContext(ScopeContext);
