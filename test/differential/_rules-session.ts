/** Differences in reading, renewing and ending sessions. */
import type { Rule } from './_rules.ts'
import { callsOf } from './_rules-calls.ts'

export const sessionRules: readonly Rule[] = [
  {
    decision: 'D6',
    what: 'the session callback is not given the session token, and expires as the text that the client will see',
    apply(ours, theirs) {
      for (const { payload } of callsOf(theirs, 'callback', 'session')) {
        const { session } = payload as { session: Record<string, unknown> }
        delete session['sessionToken']
        if (typeof session['expires'] === 'string') session['expires'] = session['expires'].replace(/^date /, '')
      }
    },
  },
  {
    decision: 'D38',
    what: 'a session that cannot be read because the store failed is an error, not a sign-out',
    apply(ours, theirs) {
      if (ours.answer.status !== 503 || !theirs.logs.some(({ type }) => type === 'SessionTokenError')) return
      theirs.answer.status = 503
      theirs.logs = ours.logs
    },
  },
  {
    decision: 'D5',
    what: 'the jwt cookie is re-issued when it is due, not at every read',
    apply(ours, theirs) {
      if (!/^GET \S*\/session$/.test(ours.request) || ours.answer.cookies.some(({ name }) => name.includes('session-token'))) return
      theirs.answer.cookies = theirs.answer.cookies.filter(({ name, value }) => !name.includes('session-token') || value === '')
    },
  },
]
