/** Differences of the check cookies and of `state`. */
import type { Step } from './_browser.ts'
import type { Rule } from './_rules.ts'

const checkCookie = /(?:pkce\.code_verifier|\.state|\.nonce|\.challenge)$/

export const checkRules: readonly Rule[] = [
  {
    hook: 'D12',
    what: 'with form_post all check cookies come back from another site: SameSite=None; Secure',
    apply(ours, theirs) {
      for (const cookie of theirs.answer.cookies) {
        const mine = ours.answer.cookies.find(({ name }) => name === cookie.name)
        const states = ours.answer.cookies.find(({ name }) => name.endsWith('.state'))
        if (mine && /code_verifier$/.test(cookie.name) && states?.flags.includes('SameSite=None')) cookie.flags = mine.flags
      }
    },
  },
  {
    hook: 'D47',
    what: 'every authorization request carries a state, and its cookie with it',
    apply(ours, theirs) {
      for (const read of [located, told]) {
        const [mine, other] = [read(ours), read(theirs)]
        if (mine && other && !('state' in other)) delete mine['state']
      }
      if (!theirs.answer.cookies.some(isState)) ours.answer.cookies = ours.answer.cookies.filter((cookie) => !isState(cookie))
      const state = /([?&])state=[^&]*&?/
      if (!state.test(theirs.request)) ours.request = ours.request.replace(state, '$1').replace(/[?&]$/, '')
    },
  },
  {
    hook: 'D47',
    what: 'the state is random and names the flow; what it belongs to is kept in the cookie',
    apply(ours, theirs) {
      for (const step of [ours, theirs]) {
        for (const read of [located, told]) {
          const params = read(step)
          if (typeof params?.['state'] === 'string' && /^<(?:jwe|random)\d+>$/.test(params['state'])) params['state'] = 'a state'
        }
        step.request = step.request.replace(/state=<(?:jwe|random)\d+>/, 'state=a-state')
      }
    },
  },
  {
    hook: 'D47',
    what: 'a callback without its state belongs to no flow: InvalidCheck whatever else is wrong with it',
    apply(ours, theirs) {
      const [mine] = ours.logs
      const [other] = theirs.logs
      if (mine?.type === 'InvalidCheck' && other?.type === 'CallbackRouteError' && !other.details?.['err']) theirs.logs[0] = mine
    },
  },
  {
    hook: 'D12',
    what: 'the state cookie holds a sealed list of pending flows, the others a mark of each',
    apply(ours, theirs) {
      for (const { answer } of [ours, theirs]) {
        for (const cookie of answer.cookies) if (checkCookie.test(cookie.name) && cookie.value !== '') cookie.value = 'sealed'
      }
    },
  },
  {
    hook: 'D12',
    what: 'check cookies are cleared when a callback fails too',
    apply(ours, theirs) {
      const known = new Set(theirs.answer.cookies.map(({ name }) => name))
      ours.answer.cookies = ours.answer.cookies.filter(({ name, value }) => known.has(name) || !checkCookie.test(name) || value !== '')
    },
  },
]

function located({ answer }: Step): Record<string, unknown> | undefined {
  return answer.location?.params
}

function told({ answer }: Step): Record<string, unknown> | undefined {
  return (Object(answer.body) as { redirect?: { params: Record<string, unknown> } }).redirect?.params
}

function isState({ name }: { name: string }): boolean {
  return name.endsWith('.state')
}
