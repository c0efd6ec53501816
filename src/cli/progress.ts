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
  let hidden: Step | undefined
  const write = ({ rows, stage, share }: Step, time: number): void => {
    hidden = undefined
    began.shown = time
    const seconds = Math.max(0.001, (time - began.at) / 1000)
    const facts = [
      `${stage === 'look' ? 'read' : 'imported'} ${rows.toLocaleString('en')} rows`,
      `${Math.round(rows / seconds).toLocaleString('en')} a second`,
      // Before something was read nothing is known of the rest.
      ...(share && share < 1 ? [`${Math.floor(share * 100)} %`, `${toTimeLeft((seconds / share) * (1 - share))} left`] : []),
    ]
    status.write(facts.join(', '))
  }
  // The last step of a stage may have come too early to be shown: a log would end with "30 %".
  const close = (time: number): void => {
    if (hidden && !status.replaces) write({ ...hidden, share: 1 }, time)
    hidden = undefined
  }
  return {
    show(step) {
      const time = now()
      if (began.stage !== step.stage) {
        close(time)
        Object.assign(began, { at: time, stage: step.stage, shown: 0 })
      }
      if (time - began.shown < (status.replaces ? 200 : 10_000) && began.shown !== 0) hidden = step
      else write(step, time)
    },
    end() {
      close(now())
      status.write('')
    },
  }
}

function toTimeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}
