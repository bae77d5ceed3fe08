// The types of the operators in computed updates.

export interface Scope {
  root: unknown
  /** The values of `$$name`. */
  variables: Readonly<Record<string, unknown>>
}

export type Evaluate = (expression: unknown, scope: Scope) => unknown
export type Operator = (operand: unknown, scope: Scope, evaluate: Evaluate) => unknown
