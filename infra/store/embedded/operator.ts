// What an operator of a computed update is.

export interface Scope {
  root: unknown
  /** What `$$name` stands for. */
  variables: Readonly<Record<string, unknown>>
}

export type Evaluate = (expression: unknown, scope: Scope) => unknown
export type Operator = (operand: unknown, scope: Scope, evaluate: Evaluate) => unknown
