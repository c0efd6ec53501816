/** The differences that DECISIONS.md announces, as small changes to what one side did. Whatever is left is a failure. */
import { differences } from './_diff.ts'
import type { Step } from './_browser.ts'
import { answerRules } from './_rules-answer.ts'
import { callRules } from './_rules-calls.ts'
import { checkRules } from './_rules-checks.ts'
import { sessionRules } from './_rules-session.ts'
import { webauthnRules } from './_rules-webauthn.ts'

/** One announced difference. `apply` changes what the two sides did in one step until they say the same. */
export interface Rule {
  hook: string
  what: string
  apply(ours: Step, theirs: Step, memory: Map<string, unknown>): void
}
/** A step whose outcome a hook changes as a whole: what is expected of ours; the two sides are not compared. */
export interface Asked {
  hook: string
  ours: Record<string, unknown>
}

export const rules: readonly Rule[] = [...checkRules, ...callRules, ...sessionRules, ...webauthnRules, ...answerRules]
/** Rules that changed something in this run. */
export const used: Set<Rule> = new Set()

/** Copies of both sides with all announced differences taken away. */
export function applyRules(
  ours: readonly Step[],
  theirs: readonly Step[],
  decided: Readonly<Record<number, Asked>>,
): { ours: Step[]; theirs: Step[]; broken: string[] } {
  const sides = structuredClone({ ours: [...ours], theirs: [...theirs] })
  const memory = new Map<string, unknown>()
  const broken: string[] = []
  for (const [i, mine] of sides.ours.entries()) {
    const other = sides.theirs[i]
    if (!other) continue
    const announced = decided[i]
    if (announced) {
      broken.push(...differences(pick(mine, announced.ours), announced.ours).map((line) => `${announced.hook}, step ${i}: ${line}`))
      for (const step of [mine, other])
        Object.assign(step, { request: mine.request.replace(/<\w+>/g, '<>'), calls: [], logs: [], answer: { cookies: [] } })
      continue
    }
    for (const rule of rules) {
      // Once is enough: to compare costs more than the rules.
      const before = used.has(rule) ? undefined : JSON.stringify([mine, other])
      rule.apply(mine, other, memory)
      if (before !== undefined && JSON.stringify([mine, other]) !== before) used.add(rule)
    }
  }
  return { ...sides, broken }
}

/** The part of `value` that `shape` speaks of. */
function pick(value: unknown, shape: unknown): unknown {
  if (typeof value !== 'object' || value === null || typeof shape !== 'object' || shape === null || Array.isArray(shape)) return value
  return Object.fromEntries(Object.entries(shape).map(([key, inner]) => [key, pick((value as Record<string, unknown>)[key], inner)]))
}
