/**
 * No expression of the package can be made slow by what it is given: recheck looks for texts that take more than linear time. The gate checks the
 * expressions that `regexps.proved.txt` does not have, the full tier checks all of them and the list.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { redactText } from 'authkernel/kernel'
import { parseSync, Visitor } from 'oxc-parser'
import { check } from 'recheck'
import { describe, expect, it } from 'vitest'
import { isFullTier } from './_tier.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

interface Expression {
  where: string
  source: string
  flags: string
}

/** Literals, and `new RegExp` of a text. */
function expressionsOf(path: string): Expression[] {
  const text = readFileSync(root + path, 'utf8')
  const { program } = parseSync(path, text)
  const found: Expression[] = []
  const add = (start: number, source: string, flags: string): void => {
    found.push({ where: `${path}:${text.slice(0, start).split('\n').length}`, source, flags })
  }
  const ofCall = ({ callee, arguments: given, start }: Call): void => {
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return
    const [source, flags] = given
    if (source?.type === 'Literal' && typeof source.value === 'string') add(start, source.value, String(flags?.value ?? ''))
  }
  new Visitor({
    Literal(node) {
      const { regex } = node as { regex?: { pattern: string; flags: string } }
      if (regex) add(node.start, regex.pattern, regex.flags)
    },
    CallExpression: (node) => ofCall(node as unknown as Call),
    NewExpression: (node) => ofCall(node as unknown as Call),
  }).visit(program)
  return found
}
interface Call {
  callee: { type: string; name?: string }
  arguments: { type: string; value?: unknown }[]
  start: number
}

// `init` is left out: it reads the files of the developer who runs it, who slows down only themselves.
const files = ['src', 'plugins', 'bindings'].flatMap((folder) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') && !path.startsWith('cli/init/'))
    .map((path) => `${folder}/${path}`),
)
const expressions = files.flatMap(expressionsOf)
const textOf = ({ source, flags }: Pick<Expression, 'source' | 'flags'>): string => `/${source}/${flags}`
const unique = [...new Map(expressions.map((expression) => [textOf(expression), expression])).values()]
// Checked in the full tier, which writes it: AUTHKERNEL_TIER=full npx vitest run test/regexps.deep.test.ts -u
const list = './regexps.proved.txt'
const proved = new Set(readFileSync(new URL(list, import.meta.url), 'utf8').split('\n'))
const unproved = unique.filter((expression) => isFullTier || !proved.has(textOf(expression)))

/** What makes an expression slow, tried out: recheck guesses where it cannot prove. Undefined: nothing does. */
async function attackOn({ source, flags }: Pick<Expression, 'source' | 'flags'>): Promise<string | undefined> {
  // The flags that do not change how long it takes, some of which recheck does not know.
  const found = await check(source, flags.replace(/[dv]/g, ''), { timeout: 20_000, randomSeed: 1 })
  if (found.status !== 'vulnerable') return undefined
  const { pumps, suffix, pattern } = found.attack
  const text = (count: number): string => pumps.map(({ prefix, pump }) => prefix + pump.repeat(count)).join('') + suffix
  // Above what any limit of the package lets through: linear is a millisecond, quadratic is seconds.
  const repeats = found.complexity.type === 'exponential' ? 26 : Math.ceil(100_000 / Math.max(1, ...pumps.map(({ pump }) => pump.length)))
  const expression = new RegExp(source, flags.replace('g', ''))
  const started = performance.now()
  expression.test(text(repeats))
  return performance.now() - started < slow ? undefined : `${found.complexity.summary}: ${pattern}`
}
const slow = 300

it('finds expressions, and what is wrong with a bad one', { timeout: 60_000 }, async () => {
  expect(unique.length).toBeGreaterThan(100)
  expect(await attackOn({ source: '^(a+)+$', flags: '' })).toMatch(/exponential/)
  expect(await attackOn({ source: '\\/+$', flags: '' })).toMatch(/polynomial/)
  expect(await attackOn({ source: '(?<!\\/)\\/+$', flags: '' })).toBeUndefined()
})

it('a message of a megabyte that begins like a token again and again is read once', { timeout: 5_000 }, () => {
  expect(redactText('eyJe'.repeat(250_000), [], 100)).toBe(`${'eyJe'.repeat(25)}…`)
  expect(redactText(`${'eyJe'.repeat(250_000)}.x`)).toBe('[redacted]')
  expect(redactText('token=eyJhbGciOiJub25lIn0.e30. and at_eyJhbGciOi.x, word.eyJ')).toBe('token=[redacted] and at_[redacted], word.eyJ')
})

const linear: string[] = []
// A test without cases is none.
describe.runIf(unproved.length > 0)('takes linear time at most', { concurrent: true }, () => {
  it.each(unproved.map((expression) => [expression.where, textOf(expression), expression] as const))(
    '%s %s',
    { timeout: 60_000 },
    async (_where, shown, expression) => {
      expect(await attackOn(expression)).toBeUndefined()
      linear.push(shown)
    },
  )
})

it.each(isFullTier ? [list] : [])('%s is what the gate need not check again', async (file) => {
  await expect(`${linear.toSorted().join('\n')}\n`).toMatchFileSnapshot(file)
})
