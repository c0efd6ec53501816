/** Finds what a name was meant to be, for messages about unknown names. */

/** ` Did you mean "clientId"?` with a space in front, or an empty text when no known name is close enough. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = findNearest(name, known)
  return meant === undefined ? '' : ` Did you mean "${meant}"?`
}

/** The known name that differs by case, separators or at most that share of its letters (default a third, three at most). */
export function findNearest(name: string, known: Iterable<string>, share: number = 1 / 3): string | undefined {
  const plain = plainOf(name)
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceOf(plain, plainOf(candidate))
    if (distance <= Math.min(3, candidate.length * share) && distance < (best?.distance ?? Infinity)) best = { candidate, distance }
  }
  return best?.candidate
}

function plainOf(name: string): string {
  return name.slice(0, 64).replace(/[-_ ]/g, '').toLowerCase()
}

/** Edits and swaps of neighbours between two short texts (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length] ?? 0
}
