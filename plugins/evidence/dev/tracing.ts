/** Keeps a trace of each request but those of the panel itself, and prints the link to the panel with the first one. */
import type { Observer } from 'authkernel/kernel'
import { answerOf } from '../debug/describe.ts'
import { createObserver } from '../debug/observer.ts'
import { createTrace } from '../debug/trace.ts'
import { isAllowed, panelKey } from './guard.ts'
import { type DevState, keepLine } from './state.ts'

/** What sees the requests of the app. `now`: the clock of the app. */
export function observeRequests(state: DevState, now: () => number, print: (text: string) => void): Required<Observer> {
  // Drawing the panel reads a session: it would push the requests of the app out of the list.
  const silent = new Set<string>()
  const trace = createTrace((text, facts) => {
    if (facts && facts.job === undefined && !silent.has(facts.requestId)) keepLine(state, facts.requestId, text, now())
  })
  const inner = createObserver(trace)
  return {
    ...inner,
    async request(ctx, work) {
      if (!state.isAnnounced && isAllowed(ctx)) {
        state.isAnnounced = true
        print(`authkernel: development panel ${ctx.base}/dev?key=${await panelKey(ctx)}`)
      }
      const { method, url } = ctx.request
      if (method !== 'GET' || new URL(url).pathname !== `${ctx.basePath}/dev`) return inner.request(ctx, work)
      silent.add(ctx.facts.requestId)
      return work().finally(() => silent.delete(ctx.facts.requestId))
    },
    handler(call, work) {
      const keep = (answer: unknown): void => void state.answers.set(`${call.name} ${call.plugin}`, { answer: answerOf(answer), at: now() })
      const answer = inner.handler(call, work)
      if (answer instanceof Promise) answer.then(keep, () => keep('an error'))
      else keep(answer)
      return answer
    },
  }
}
