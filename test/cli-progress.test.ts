/** The line that says how far a move is. */
import { expect, it } from 'vitest'
import { createProgress } from '../src/cli/progress.ts'

function watch(replaces: boolean) {
  const lines: string[] = []
  let now = 1_000
  const progress = createProgress({ status: { replaces, write: (text) => void lines.push(text) } }, () => now)
  const show = (seconds: number, rows: number, share?: number, stage: 'look' | 'write' = 'write') => {
    now = 1_000 + seconds * 1000
    progress.show({ rows, stage, share })
  }
  return { lines, show, end: () => progress.end() }
}

it('says rows, speed, percentage and time left, and those of the stage', () => {
  const { lines, show } = watch(true)
  show(0, 500)
  show(10, 20_000, 0.25)
  show(20, 60_000, 0.105)
  show(30, 80_000, 1)
  show(31, 500, undefined, 'look')
  expect(lines.slice(1)).toEqual([
    'imported 20,000 rows, 2,000 a second, 25 %, 30 s left',
    'imported 60,000 rows, 3,000 a second, 10 %, 3 min left',
    'imported 80,000 rows, 2,667 a second',
    'read 500 rows, 500,000 a second',
  ])
})

it('a log has a line every ten seconds', () => {
  const { lines, show } = watch(false)
  for (let second = 0; second <= 25; second++) show(second, second * 100)
  expect(lines).toHaveLength(3)
})

it('a log ends with all rows of each stage, and not with a share of them', () => {
  const { lines, show, end } = watch(false)
  show(0, 500, 0.3, 'look')
  show(1, 1_700, 1, 'look')
  show(2, 500, 0.3)
  show(4, 1_700, 0.99)
  end()
  expect(lines.filter((line) => line !== '')).toEqual([
    expect.stringContaining('30 %'),
    'read 1,700 rows, 850 a second',
    expect.stringContaining('30 %'),
    'imported 1,700 rows, 850 a second',
  ])
})
