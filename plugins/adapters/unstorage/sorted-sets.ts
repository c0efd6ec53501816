/** Sorted sets where the store has none: texts in the order of their UTF-8 bytes, as Redis orders them. */
import type { SetRange } from './types.ts'

/** Texts by their UTF-8 bytes: by code points, so that characters beyond U+FFFF come last. */
export function compareBytes(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return utf8Rank(left) - utf8Rank(right)
  }
  return a.length - b.length
}

// Halves of characters beyond U+FFFF stand before U+E000 in UTF-16, and after U+FFFF in UTF-8.
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** The members with these changes, in order. */
export function applyChanges(members: readonly string[], changes: ReadonlyMap<string, boolean>): string[] {
  const kept = members.filter((member) => changes.get(member) === undefined)
  const added = [...changes].flatMap(([member, present]) => (present ? [member] : []))
  return [...kept, ...added].sort(compareBytes)
}

/** The members of a range, in its order. */
export function inRange(members: readonly string[], { min, max, reverse, limit }: SetRange): string[] {
  const above = (member: string): boolean => min === '-' || compareBytes(member, min.slice(1)) >= (min[0] === '(' ? 1 : 0)
  const below = (member: string): boolean => max === '+' || compareBytes(member, max.slice(1)) <= (max[0] === '(' ? -1 : 0)
  const found = members.filter((member) => above(member) && below(member))
  return (reverse ? found.toReversed() : found).slice(0, limit)
}
