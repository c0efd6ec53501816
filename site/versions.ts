/** The versions of the site: the newest release at its root, what is not released below `next/`, the last patch of each earlier minor below `v<major>.<minor>/`. */

/** One version: its name in the menu, its folder below the root of the site, and the tag that it is built from; without a tag it is this working tree. */
export interface Version {
  name: string
  folder: string
  tag?: string
}

/** Versions from the tags `v<major>.<minor>.<patch>`, newest first. Other tags, also of pre-releases, are left out. */
export function versionsOf(tags: readonly string[], unreleased: string): Version[] {
  const releases = tags
    .map((tag) => /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag))
    .filter((match) => match !== null)
    .map(([tag, ...numbers]) => ({ tag, numbers: numbers.map(Number) }))
    .sort((a, b) => compare(b.numbers, a.numbers))
  const minors = releases.filter(({ numbers }, i) => releases.findIndex((other) => minor(other.numbers) === minor(numbers)) === i)
  const next = `${unreleased} (next)`
  if (minors.length === 0) return [{ name: next, folder: '' }]
  const [newest, ...earlier] = minors.map(({ tag, numbers }) => ({ tag, name: tag, folder: `v${minor(numbers)}/` }))
  return [{ name: next, folder: 'next/' }, { ...newest!, folder: '' }, ...earlier]
}

function minor([major, second]: readonly number[]): string {
  return `${major}.${second}`
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, i) => number !== b[i])
  return at === -1 ? 0 : a[at]! - b[at]!
}
