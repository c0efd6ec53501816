/** Names that look alike have one skeleton (UTS #39 section 4): compared instead of the names, and never shown. */
import { confusables } from './confusables.generated.ts'

// More than the table of the standard: in small letters of a sans-serif type these are read as one.
const lookalikes: Readonly<Record<string, string>> = {
  a: 'аɑαᴀ',
  b: 'Ьƅʙ',
  c: 'сϲᴄ',
  d: 'ԁᴅ',
  e: 'еҽᴇ',
  g: 'ɡց',
  h: 'һհʜ',
  j: 'јϳᴊ',
  k: 'κкᴋ',
  l: '1|iіıɩιӏ',
  n: 'ոռ',
  o: 'оοօσ0೦๐',
  p: 'рρᴘ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕꜱ',
  t: 'тτᴛ',
  u: 'υսᴜ',
  v: 'νѵ',
  w: 'ԝѡɯ',
  x: 'хχ',
  y: 'уүγ',
  z: 'ᴢ',
}
const letterMap = (groups: readonly (readonly string[])[]): Map<string, string> =>
  new Map(groups.flatMap(([letter = '', all = '']) => Array.from(all, (one) => [one, letter] as const)))
const standardLetters = letterMap(confusables.split(' ').map((group) => group.split('=')))
const similarLetters = letterMap(Object.entries(lookalikes))

/** The skeleton of a name in small letters. Points, dashes and accents are read over. */
export function skeletonOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[._-]/g, '')
  const read = Array.from(plain, (one) => standardLetters.get(one) ?? one).join('')
  return Array.from(read, (one) => similarLetters.get(one) ?? one)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}
