/** Differences in status, headers, cookies and pages. */
import type { Step } from './_browser.ts'
import type { Rule } from './_rules.ts'

export const answerRules: readonly Rule[] = [
  {
    decision: 'D40',
    what: 'one Cache-Control in place of three headers, on every answer but /providers',
    apply({ request, answer: { status, headers: ours } }, { answer: { headers: theirs } }) {
      if (ours['cache-control'] !== 'private, no-store' || (status === 200 && pathOf(request).endsWith('/providers'))) return
      for (const name of ['cache-control', 'expires', 'pragma']) for (const headers of [ours, theirs]) delete headers[name]
    },
  },
  {
    decision: 'D19',
    what: 'pages with a strict policy, in the language of the browser',
    apply({ answer: { page, headers } }) {
      if (!page || !headers['content-security-policy']?.includes("frame-ancestors 'none'")) return
      for (const name of ['content-security-policy', 'content-language', 'vary', 'referrer-policy', 'x-content-type-options', 'x-frame-options'])
        delete headers[name]
    },
  },
  {
    decision: 'D43',
    what: 'the forms of the sign-in page carry the callback URL as the redirect callback made it, not as it was sent',
    apply({ answer: { page: ours } }, { request, answer: { page: theirs } }) {
      const sent = new URLSearchParams(request.split('?')[1]).get('callbackUrl')
      for (const [i, form] of (theirs?.forms ?? []).entries()) {
        const mine = ours?.forms[i]?.inputs.find(({ name }) => name === 'callbackUrl')
        const other = form.inputs.find(({ name }) => name === 'callbackUrl')
        if (mine && other?.['value'] === sent && mine['value']?.startsWith('http://localhost:3000')) other['value'] = mine['value']
      }
    },
  },
  {
    decision: 'D57',
    what: 'an unusable callbackUrl counts as absent, with a warning, where Auth.js answers 500',
    apply(ours, theirs) {
      const refused = theirs.logs.some(({ type }) => type === 'InvalidCallbackUrl')
      const warned = ours.logs.some(({ type }) => type === 'invalid-callback-url')
      if (refused && warned && ours.answer.status < 400) for (const step of [ours, theirs]) Object.assign(step, { calls: [], logs: [], answer: { cookies: [] } })
    },
  },
  {
    decision: 'D43',
    what: 'the CSRF cookie is made by /csrf and pages with a form only',
    apply: (ours, theirs, memory) => moveCookie('csrf-token', ours, theirs, memory),
  },
  {
    decision: 'D43',
    what: 'the callback-url cookie is written by these and by requests that carry a callbackUrl',
    apply: (ours, theirs, memory) => moveCookie('callback-url', ours, theirs, memory),
  },
]

// Auth.js sets it with whatever request comes first; here it comes with the request that needs it.
function moveCookie(key: string, ours: Step, theirs: Step, memory: Map<string, unknown>): void {
  const find = (step: Step): number => step.answer.cookies.findIndex(({ name, flags }) => name.endsWith(key) && !flags.includes('Max-Age=0'))
  const mine = find(ours)
  const other = find(theirs)
  if (mine === -1 && other !== -1) memory.set(key, theirs.answer.cookies.splice(other, 1)[0])
  if (mine !== -1 && other === -1 && memory.has(key)) {
    theirs.answer.cookies.push(memory.get(key) as Step['answer']['cookies'][number])
    memory.delete(key)
  }
}

export function pathOf(request: string): string {
  return request.replace(/^\w+ /, '').replace(/\?.*/s, '')
}
