// Plants a fault into a syntax tree. In: the compiled text of a file, the name of a function or constant in it, and what to do there. Out:
// the text with the fault. A place is found by its structure, so a line may be written otherwise; where there is none or there are
// several, it throws.
import { parseSync } from 'vite'

interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

type Edit = { start: number; end: number; text: string }

/** Finds its place inside a node. */
export type Plant = (inside: Node, text: string) => Edit[]

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)

function* nodesIn(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* nodesIn(child)
}

const nodeAt = (node: Node, member: string): Node => node[member] as Node
const nodesAt = (node: Node, member: string): Node[] => node[member] as Node[]

/** The names and literals in it. */
const wordsIn = (node: Node): Set<unknown> =>
  new Set(
    [...nodesIn(node)].flatMap(({ type, name, value }) => (type === 'Literal' ? [String(value)] : name ? [name] : [])),
  )

function mentions(node: Node, words: readonly string[]): boolean {
  const found = wordsIn(node)
  return words.every(word => found.has(word))
}

function only<T>(found: readonly T[], what: string): T {
  const [first, ...others] = found
  if (first === undefined || others.length > 0) throw new Error(`${found.length} places are ${what}`)
  return first
}

/** The functions, constants and members of that name. */
const namedIn = (program: Node, name: string): Node[] =>
  [...nodesIn(program)].flatMap(node => {
    if (node.type === 'FunctionDeclaration' && nodeAt(node, 'id').name === name) return [node]
    if (node.type === 'VariableDeclarator' && nodeAt(node, 'id').name === name && node.init)
      return [nodeAt(node, 'init')]
    const isMember = node.type === 'Property' && [nodeAt(node, 'key').name, nodeAt(node, 'key').value].includes(name)
    return isMember && node.shorthand !== true ? [nodeAt(node, 'value')] : []
  })

/** `name`: of a function or constant, or several from the outside inwards: "save retry". */
export function plantFault(text: string, name: string, plant: Plant): string {
  const { program, errors } = parseSync('planted.js', text)
  if (errors.length > 0) throw new Error(errors[0]?.message)
  let place = program as unknown as Node
  for (const part of name.split(' ').filter(Boolean)) place = only(namedIn(place, part), `named ${part}`)
  return plant(place, text)
    .toSorted((one, other) => other.start - one.start)
    .reduce((changed, { start, end, text: planted }) => changed.slice(0, start) + planted + changed.slice(end), text)
}

/** The smallest node of a type that mentions the words. */
const smallest = (inside: Node, type: string, words: readonly string[]): Node =>
  only(
    innermost([...nodesIn(inside)].filter(node => node.type === type && mentions(node, words))),
    `of type ${type} and mention ${words.join(', ')}`,
  )

const replacing = ({ start, end }: Node, text: string): Edit[] => [{ start, end, text }]
const textOf = ({ start, end }: Node, text: string): string => text.slice(start, end)

/** What decides: a test, or an operand of `&&` and `||` in it. */
function conditionsIn(node: Node | null): Node[] {
  if (node === null) return []
  if (node.type === 'LogicalExpression' && node.operator !== '??')
    return ['left', 'right'].flatMap(side => conditionsIn(nodeAt(node, side)))
  if (node.type === 'ParenthesizedExpression') return conditionsIn(nodeAt(node, 'expression'))
  const negated = node.type === 'UnaryExpression' && node.operator === '!' ? conditionsIn(nodeAt(node, 'argument')) : []
  return negated.length > 1 ? negated : [node]
}

const TESTS: Record<string, string> = {
  IfStatement: 'test',
  ConditionalExpression: 'test',
  ReturnStatement: 'argument',
  ArrowFunctionExpression: 'body',
}
/** An answer is a condition where it says yes or no. */
const ANSWERS = ['BinaryExpression', 'LogicalExpression', 'UnaryExpression']

function testOf(node: Node): Node | null {
  if (node.type === 'LogicalExpression') return node.operator === '??' ? null : node
  const test = node[TESTS[node.type] ?? '']
  if (!isNode(test)) return null
  return TESTS[node.type] === 'test' || ANSWERS.includes(test.type) ? test : null
}

/** Those that have no other of them inside. */
const innermost = (found: readonly Node[]): Node[] =>
  found.filter(one => !found.some(other => other !== one && other.start >= one.start && other.end <= one.end))

/** The condition that mentions the words always has this value. */
export const condition =
  (words: readonly string[], value: boolean): Plant =>
  inside => {
    const tests = new Set([...nodesIn(inside)].flatMap(node => conditionsIn(testOf(node))))
    const found = innermost([...tests].filter(test => mentions(test, words)))
    return replacing(only(found, `conditions on ${words.join(', ')}`), String(value))
  }

/** The expression or statement of a type that mentions the words is replaced. */
export const replaced =
  (type: string, words: readonly string[], planted: string): Plant =>
  inside =>
    replacing(smallest(inside, type, words), planted)

/** The statement that mentions the words is not there. */
export const without = (...words: string[]): Plant => replaced('ExpressionStatement', words, ';')

/** The item of a list is not there. */
export const withoutItem =
  (...words: string[]): Plant =>
  (inside, text) => {
    const items = [...nodesIn(inside)]
      .filter(({ type }) => type === 'ArrayExpression')
      .flatMap(list => nodesAt(list, 'elements'))
    const found = items.filter(item => item !== null && item.type !== 'ArrayExpression' && mentions(item, words))
    return removedFromList(only(innermost(found), `items ${words.join(', ')}`), text)
  }

function removedFromList({ start, end }: Node, text: string): Edit[] {
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0
  return [{ start, end: end + comma, text: '' }]
}

/** Two statements of one block, each found by its words, change places. */
export const swapped =
  (first: readonly string[], second: readonly string[]): Plant =>
  (inside, text) => {
    const blocks = [...nodesIn(inside)]
      .filter(({ type }) => type === 'BlockStatement')
      .map(block => nodesAt(block, 'body'))
    const pairs = blocks.flatMap(body => {
      const [one, other] = [first, second].map(words => body.filter(statement => mentions(statement, words)))
      const isPair = one?.length === 1 && other?.length === 1 && one[0] !== other[0]
      return isPair ? [[one[0], other[0]] as [Node, Node]] : []
    })
    const [one, other] = only(pairs, `statements ${first.join(', ')} and ${second.join(', ')}`)
    return [...replacing(one, textOf(other, text)), ...replacing(other, textOf(one, text))]
  }

/** The function answers this at once. */
export const answers =
  (planted: string): Plant =>
  inside => {
    const body = nodeAt(inside, 'body')
    return replacing(body, body.type === 'BlockStatement' ? `{ return ${planted} }` : `(${planted})`)
  }

/** Of an expression with an operator that mentions the words, one side is left. */
export const oneSide =
  (side: 'left' | 'right', ...words: string[]): Plant =>
  (inside, text) => {
    const node = smallest(inside, 'LogicalExpression', words)
    return replacing(node, textOf(nodeAt(node, side), text))
  }

/** The operator of a comparison or a sum that mentions the words is another one. */
export const operator =
  (planted: string, ...words: string[]): Plant =>
  (inside, text) => {
    const node = smallest(inside, 'BinaryExpression', words)
    return replacing(node, `${textOf(nodeAt(node, 'left'), text)} ${planted} ${textOf(nodeAt(node, 'right'), text)}`)
  }

/** The promise of the statement is not waited for. */
export const unawaited =
  (...words: string[]): Plant =>
  (inside, text) => {
    const node = smallest(inside, 'AwaitExpression', words)
    return replacing(node, textOf(nodeAt(node, 'argument'), text))
  }
