/** The rules for English prose, without knowledge of Markdown or TypeScript: forbidden words, long sentences, passive chains. */
import words from './words.json' with { type: 'json' }

/** A row of the word list: what to avoid, as a label and a regular expression, and what the trade says. */
export interface Word {
  avoid: string
  pattern: string
  use: string
  example: string
}
/** What a rule found: its place in the text and the message. */
export interface Finding {
  index: number
  message: string
}

const longestSentence = 30
const mostPassives = 3
const list = (words as Word[]).map(({ pattern, ...word }) => ({ ...word, regexp: new RegExp(pattern, 'gi') }))
// Most texts are fine: one expression says so for all words.
const any = new RegExp((words as Word[]).map(({ pattern }) => pattern).join('|'), 'i')
// A stop ends a sentence before white space and a capital, a digit, code or an opening mark, but not in `e.g.`.
const sentenceEnd = /(?<![ (](?:e\.g|i\.e|vs|etc|No|v\d))[.!?:]+[)"”*]*\s+(?=[\p{Lu}\d`(“"])/u
const adverb = String.raw`(?:\s+(?:not|also|never|always|only|still|then|already|again|\w+ly))*`
const irregular =
  'made|sent|read|written|known|kept|given|taken|found|shown|bound|built|done|seen|set|met|lost|held|left|drawn|chosen|begun|broken|paid|said|told|cut|put|shut|split'
const passive = new RegExp(String.raw`\b(?:is|are|was|were|be|been|being)${adverb}\s+(?:\w{2,}ed|${irregular})\b`, 'gi')

/** Whether a text may have a finding: true too often, and cheap, so that most files need no parser. */
export function isSuspicious(text: string, blocks: readonly string[]): boolean {
  return any.test(text) || blocks.some((block) => checkProse(block).length > 0)
}

/** Findings of all rules in one block of text: a paragraph, a heading, a cell or a message. Inline code keeps its backticks, with any content. */
export function checkProse(text: string): Finding[] {
  const plain = text.replace(/`[^`]*`/g, (code) => `\`${'x'.repeat(code.length - 2)}\``)
  return [...findWords(plain), ...findSentences(plain)].sort((a, b) => a.index - b.index)
}

function findWords(text: string): Finding[] {
  if (!any.test(text)) return []
  return list.flatMap(({ regexp, use }) =>
    [...text.matchAll(regexp)].map(({ 0: found, index }) => ({ index, message: `Avoid "${found.replace(/\s+/g, ' ')}": write ${use}.` })),
  )
}

function findSentences(text: string): Finding[] {
  const found: Finding[] = []
  for (const { segment, index } of splitSentences(text)) {
    const length = segment.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length
    if (length > longestSentence) found.push({ index, message: `A sentence of ${length} words: write at most ${longestSentence}.` })
    const passives = length > 8 ? (segment.match(passive)?.length ?? 0) : 0
    if (passives > mostPassives) found.push({ index, message: `${passives} passives in one sentence: name who does it.` })
  }
  return found
}

function splitSentences(text: string): { segment: string; index: number }[] {
  const found: { segment: string; index: number }[] = []
  let index = 0
  for (const segment of text.split(sentenceEnd)) {
    found.push({ segment, index: text.indexOf(segment, index) })
    index = text.indexOf(segment, index) + segment.length
  }
  return found
}
