/** Differences in status, headers, cookies and pages. */
import type { SetCookie, Step } from './_browser.ts'
import type { Rule } from './_rules.ts'
import { isHandedOn } from './_rules-calls.ts'

export const answerRules: readonly Rule[] = [
  {
    hook: 'D61',
    what: 'a path in another spelling is led to its canonical form, and POST to it is refused',
    apply(ours, theirs) {
      const written = /^(\S+) (\S+)/.exec(ours.request)
      if (!written || !/\/\/|%/.test(new URL(written[2]!, 'http://localhost').pathname)) return
      if (ours.answer.status === (written[1] === 'GET' ? 308 : 400)) forget(ours, theirs)
    },
  },
  {
    hook: 'D61',
    what: 'the route of the webauthn plugin says 405 to other methods, and answers HEAD',
    apply(ours, theirs) {
      if (/^(?:PUT|PATCH|DELETE|OPTIONS) \S*\/webauthn-options/.test(ours.request) && ours.answer.status === 405) forget(ours, theirs)
      if (/^HEAD \S*\/webauthn-options/.test(ours.request) && ours.answer.status === 302) forget(ours, theirs)
    },
  },
  {
    hook: 'D80',
    what: 'who signs in with a password or a magic link is known in this browser afterwards',
    apply({ request, answer }) {
      const at = answer.cookies.findIndex(({ name }) => /[.]known-device$/.test(name))
      if (at >= 0 && /^(?:GET|POST) \S*\/callback\//.test(request)) answer.cookies.splice(at, 1)
    },
  },
  {
    hook: 'D40',
    what: 'the addresses on /providers follow the headers of a trusted proxy, and say so',
    apply({ request, answer: { headers } }) {
      if (/^GET \S*\/providers/.test(request) && headers['vary'] === 'X-Forwarded-Host, X-Forwarded-Proto') delete headers['vary']
    },
  },
  {
    hook: 'D75',
    what: '/providers says where the form of a type posts to, and what it asks',
    apply({ request, answer: { status, body } }) {
      if (status !== 200 || !/^GET \S*\/providers$/.test(request)) return
      for (const provider of Object.values(body as Record<string, { type: string; form?: { post: string } }>)) {
        const { type, form } = provider
        if (form?.post === (/^(?:oauth|oidc|email)$/.test(type) ? 'signin' : 'callback')) delete provider.form
      }
    },
  },
  {
    hook: 'D40',
    what: 'one Cache-Control instead of three headers, on every answer but /providers',
    apply({ request, answer: { status, headers: ours } }, { answer: { headers: theirs } }) {
      if (ours['cache-control'] !== 'private, no-store' || (status === 200 && /^GET \S*\/providers/.test(request))) return
      for (const name of ['cache-control', 'expires', 'pragma']) for (const headers of [ours, theirs]) delete headers[name]
    },
  },
  {
    hook: 'D66',
    what: 'the sign-out page asks nothing when no user is signed in',
    apply({ request, answer: { page: ours } }, { answer: { page: theirs } }) {
      if (/^GET \S*\/signout(?:\?|$)/.test(request) && ours?.forms.length === 0 && theirs?.forms.length === 1) theirs.forms = []
    },
  },
  {
    hook: 'D70',
    what: 'a form that asks for the identifier stands first, where two or more forms begin with one',
    apply({ answer: { page: ours } }, { answer: { page: theirs } }) {
      const [first, ...rest] = ours?.forms ?? []
      const asks = ({ inputs }: { inputs: { type?: string }[] }): boolean => {
        const type = inputs.find((input) => input.type !== 'hidden')?.type
        return type === 'text' || type === 'email'
      }
      const names = first?.inputs.map(({ name }) => name).join()
      const itself = first?.id === 'identifier-form' && /\/identifier$/.test(first.action) && names === 'csrfToken,identifier'
      if (!ours || !theirs || !itself || rest.length !== theirs.forms.length || rest.filter(asks).length < 2) return
      ours.forms = rest
      // Forms that wait for the answer come after the others, and a passkey needs no address of its own then.
      for (const page of [ours, theirs]) page.forms.sort((one, two) => one.action.localeCompare(two.action))
      for (const [i, { id, inputs }] of theirs.forms.entries())
        for (const input of inputs)
          if (id?.endsWith('-form') && !ours.forms[i]?.inputs.some(({ required }) => required !== undefined)) delete input['required']
    },
  },
  {
    hook: 'D65',
    what: 'pages say their charset',
    apply({ answer: { headers: ours } }, { answer: { headers: theirs } }) {
      if (ours['content-type'] === 'text/html; charset=utf-8' && theirs['content-type'] === 'text/html')
        theirs['content-type'] = ours['content-type']
    },
  },
  {
    hook: 'D19',
    what: 'pages with a strict policy, in the language of the browser',
    apply({ answer: { page, headers } }) {
      if (!page || !headers['content-security-policy']?.includes("frame-ancestors 'none'")) return
      for (const name of [
        'content-security-policy',
        'content-language',
        'vary',
        'referrer-policy',
        'x-content-type-options',
        'x-frame-options',
      ])
        delete headers[name]
    },
  },
  {
    hook: 'D30',
    what: 'the callbacks of email and webauthn need the CSRF token too',
    apply(ours, theirs) {
      const token = (step: Step): boolean => step.logs.some(({ type }) => type === 'MissingCSRF')
      if (/^POST \S*\/callback\/(?:mail|passkey)/.test(ours.request) && token(ours) && !token(theirs)) forget(ours, theirs)
    },
  },
  {
    hook: 'WIRE quirk 6',
    what: 'a profile that cannot be mapped leads to the sign-in page, with an error',
    apply(ours, theirs) {
      const { location } = theirs.answer
      if (!location || !String(location.params['code'] ?? location.params['state']).endsWith('/signin')) return
      const [mine] = ours.logs
      if (mine?.type === 'OAuthProfileParseError' && ours.answer.location?.url.endsWith('/signin')) {
        theirs.answer.location = ours.answer.location
        theirs.logs = ours.logs
      }
    },
  },
  {
    hook: 'D21',
    what: 'an error that is none is not named on the way to the own error page',
    apply(_ours, { answer: { location, body } }) {
      for (const place of [location, (Object(body) as { redirect?: typeof location }).redirect])
        if (place?.params['error'] === 'undefined') delete place.params['error']
    },
  },
  {
    hook: 'D34',
    what: 'a host that is not trusted does not get into a Location',
    apply({ logs, answer: { location: ours } }, { answer: { location: theirs } }) {
      const untrusted = logs.some(({ type }) => type === 'UntrustedHost')
      if (untrusted && ours?.url.startsWith('/') && theirs?.url.endsWith(ours.url)) theirs.url = ours.url
    },
  },
  {
    hook: 'WIRE 3',
    what: 'the URL instead of a redirect is absolute, as clients need it',
    apply({ answer: { body: ours } }, { answer: { body: theirs } }) {
      const [mine, other] = [ours, theirs].map((body) => (Object(body) as { redirect?: { url: string } }).redirect)
      if (mine && other?.url.startsWith('/') && mine.url.endsWith(other.url)) other.url = mine.url
    },
  },
  {
    hook: 'D21',
    what: 'error redirects keep the query of the page they go to',
    apply(ours, theirs) {
      const { location } = theirs.answer
      for (const [name, value] of Object.entries(location?.params ?? {})) {
        const [first = '', rest] = String(value).split('?')
        if (location && rest !== undefined && /^(?:error|code|provider)=/.test(rest))
          Object.assign(location.params, { [name]: first }, Object.fromEntries(new URLSearchParams(rest)))
      }
      // And the request that follows.
      if (/\?[^?]*\?(?:error|code)=/.test(theirs.request)) theirs.request = ours.request
    },
  },
  {
    hook: 'RFC 3986',
    what: 'a callback URL is written as a URL: blanks and letters beyond ASCII are percent-encoded',
    apply(ours, { answer: theirs }) {
      const spelled = (text: string): string => (URL.canParse(text) ? encodeURI(decodeURI(text)).replace(/%25/g, '%') : text)
      if (theirs.location && theirs.location.url !== ours.answer.location?.url) theirs.location.url = spelled(theirs.location.url)
      for (const cookie of theirs.cookies) {
        const mine = ours.answer.cookies.find(({ name }) => name === cookie.name)
        if (mine && cookie.name.endsWith('callback-url') && mine.value !== cookie.value) cookie.value = spelled(String(cookie.value))
      }
    },
  },
  {
    hook: 'D43',
    what: 'the forms of the sign-in page carry the callback URL as the redirect callback made it, not as it was sent',
    apply({ answer: { page: ours } }, { request, answer: { page: theirs } }) {
      const sent = new URLSearchParams(request.split('?')[1]).getAll('callbackUrl').at(-1)
      for (const [i, form] of (theirs?.forms ?? []).entries()) {
        const mine = ours?.forms[i]?.inputs.find(({ name }) => name === 'callbackUrl')
        const other = form.inputs.find(({ name }) => name === 'callbackUrl')
        if (mine && other && other['value'] === sent && mine['value']?.startsWith('http://localhost:3000')) other['value'] = mine['value']
      }
    },
  },
  {
    hook: 'D57',
    what: 'an unusable callbackUrl counts as absent, with a warning, where Auth.js answers 500',
    apply(ours, theirs) {
      const refused = theirs.logs.some(({ type }) => type === 'InvalidCallbackUrl')
      // It is not checked where none is needed (D43).
      const warned = ours.logs.some(({ type }) => type === 'invalid-callback-url') || /\/session/.test(ours.request)
      if (refused && warned && ours.answer.status < 400) forget(ours, theirs)
    },
  },
  {
    hook: 'D43',
    what: 'the CSRF cookie is made by /csrf and pages with a form only',
    apply: (ours, theirs, memory) => moveCookie('csrf-token', ours, theirs, memory),
  },
  {
    hook: 'D43',
    what: 'the callback-url cookie is written by these and by requests that carry a callbackUrl',
    apply: moveCallbackUrl,
  },
]

// Another outcome altogether: nothing of the step is compared.
function forget(...steps: Step[]): void {
  for (const step of steps) Object.assign(step, { calls: [], logs: [], answer: { headers: {}, cookies: [] } })
}

// Auth.js writes the default into it with whatever request comes first, and again what it says already. Any other value must be written by both.
function moveCallbackUrl(ours: Step, theirs: Step, memory: Map<string, unknown>): void {
  const isOne = ({ name, flags }: SetCookie): boolean => name.endsWith('callback-url') && !flags.includes('Max-Age=0')
  const [mine, other] = [ours, theirs].map(({ answer }) => answer.cookies.find(isOne))
  const [held, known] = [memory.get('callback-url ours'), memory.get('callback-url theirs')]
  if (mine) memory.set('callback-url ours', mine.value)
  if (other) memory.set('callback-url theirs', other.value)
  if (
    other &&
    !mine &&
    !needsForm(ours, theirs) &&
    (other.value === held || ((held === undefined || isHandedOn(ours)) && isRoot(other.value)))
  ) {
    theirs.answer.cookies = theirs.answer.cookies.filter((cookie) => cookie !== other)
  }
  if (mine && !other && mine.value === (known ?? mine.value) && (known !== undefined || isRoot(mine.value))) {
    ours.answer.cookies = ours.answer.cookies.filter((cookie) => cookie !== mine)
  }
}

function isRoot(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && value.replace(/\/$/, '') === new URL(value).origin
}

function needsForm(ours: Step, theirs: Step): boolean {
  return /^GET \S*\/csrf(?:\?|$)/.test(ours.request) || (theirs.answer.page?.forms.length ?? 0) > 0
}

// Auth.js sets it with whatever request comes first; here it comes with the request that needs it.
function moveCookie(key: string, ours: Step, theirs: Step, memory: Map<string, unknown>): void {
  const find = (step: Step): number =>
    step.answer.cookies.findIndex(({ name, flags }) => name.endsWith(key) && !flags.includes('Max-Age=0'))
  const mine = find(ours)
  const other = find(theirs)
  const needed = needsForm(ours, theirs)
  if (mine === -1 && other !== -1 && !needed) memory.set(key, theirs.answer.cookies.splice(other, 1)[0])
  if (mine !== -1 && other === -1 && memory.has(key)) {
    theirs.answer.cookies.push(memory.get(key) as Step['answer']['cookies'][number])
    memory.delete(key)
  }
}
