/** How far a long command is: one line that is replaced on a terminal, and a line every ten seconds in a log. */
import type { Setting } from './report.ts'

/** Rows so far. */
export interface Step {
  rows: number
  stage: 'look' | 'write'
  /** Of 0 to 1; undefined: not known. */
  share?: number | undefined
}
/** Shows steps on stderr. */
export interface Progress {
  show(step: Step): void
  end(): void
}

/** Speed and time left are those of the stage. */
export function createProgress({ status }: Pick<Setting, 'status'>, now: () => number = Date.now): Progress {
  const began = { at: now(), stage: '', shown: 0 }
  return {
    show({ rows, stage, share }) {
      const time = now()
      if (began.stage !== stage) Object.assign(began, { at: time, stage, shown: 0 })
      if (time - began.shown < (status.replaces ? 200 : 10_000) && began.shown !== 0) return
      began.shown = time
      const seconds = Math.max(0.001, (time - began.at) / 1000)
      const facts = [
        `${stage === 'look' ? 'read' : 'imported'} ${rows.toLocaleString('en')} rows`,
        `${Math.round(rows / seconds).toLocaleString('en')} a second`,
        // Before something was read nothing is known of the rest.
        ...(share && share < 1 ? [`${Math.floor(share * 100)} %`, `${toTimeLeft((seconds / share) * (1 - share))} left`] : []),
      ]
      status.write(facts.join(', '))
    },
    end: () => status.write(''),
  }
}

function toTimeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
