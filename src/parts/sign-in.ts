/** Sign-in and sign-up: identifier, method, code or second factor, done. One machine for all frameworks; `sign-in-view.ts` draws it. */
import { AuthClientError, type FlowResult, type PageClient, supportsPasskeys } from 'authkernel/client'
import { createMachine, type PartInstance } from './machine.ts'
import { couldBe, type Method, readMethods } from './methods.ts'
import { focusStep } from './page-focus.ts'
import { type Problem, problemOfResult, problemOfType } from './problem.ts'
import type { FactorQuestion, SignInActions, SignInData, SignInProps, SignInPurpose, SignInStep } from './sign-in-types.ts'
import { drawSignIn } from './sign-in-view.ts'

/** Where the address of a company leads. */
interface CompanySignIn {
  readonly url?: string
  readonly providers?: readonly { readonly id: string; readonly name: string; readonly type: string }[]
}

/** A `SignIn` on a page. */
export function createSignIn(page: PageClient, id: string, readProps: () => SignInProps): PartInstance<SignInProps> {
  return createFlow(page, id, readProps, 'signIn')
}

/** A `SignUp` on a page. */
export function createSignUp(page: PageClient, id: string, readProps: () => SignInProps): PartInstance<SignInProps> {
  return createFlow(page, id, readProps, 'signUp')
}

/** `start`: where it begins, for a proof that already waits for a factor. */
export function createFlow(
  page: PageClient,
  id: string,
  readProps: () => SignInProps,
  purpose: SignInPurpose,
  start: () => Promise<Partial<SignInData>> = async () => ({}),
): PartInstance<SignInProps> {
  const { client } = page
  const machine = createMachine<SignInData>(page, id, readProps, async (own) => {
    const [{ methods, base }, minLength, passkeys] = await Promise.all([
      readMethods(client),
      own.hasMethod('passwords', 'signUp')
        ? own.call<{ minLength: number }>('passwords', 'getRule').then((rule) => rule.minLength)
        : undefined,
      supportsPasskeys(),
    ])
    const usable = methods.filter(({ type }) => type !== 'webauthn' || passkeys)
    const asksFirst =
      purpose !== 'proof' &&
      (usable.filter(({ identifier, type }) => identifier && type !== 'webauthn').length > 1 || own.features().homeRealm)
    const identifier = (purpose === 'proof' && page.store.get().session?.user?.email) || ''
    begin = asksFirst ? 'identifier' : 'method'
    const known = await start()
    const step = known.step ?? (purpose === 'signUp' ? 'signUp' : begin)
    await loadStep(step)
    void offerAutofill(usable)
    const error = purpose === 'signIn' ? query('error') : undefined
    if (error !== undefined)
      machine.set({ problem: { ...problemOfType(error, query('code'), machine.get().texts, readProps().texts), action: 'page' } })
    if (purpose === 'proof') focusStep(id)
    return {
      methods: usable,
      base,
      identifier,
      realms: undefined,
      codes: undefined,
      question: undefined,
      again: undefined,
      minLength,
      passkeys,
      ...known,
      step,
    }
  })
  let begin: SignInStep = 'method'
  let waiting: AbortController | undefined

  const actions: SignInActions = {
    purpose,
    machine,
    drawStep: undefined,
    firstStep: () => begin,
    async go(step, change = {}) {
      await loadStep(step)
      machine.set({
        data: { ...(machine.get().data as SignInData), ...change, step },
        problem: undefined,
        note: undefined,
        opened: undefined,
      })
      focusStep(id)
      return undefined
    },
    async typeIdentifier(typed) {
      const identifier = typed.trim()
      if (identifier === '') return { field: 'identifier', text: machine.say('error.required') }
      // The provider of the company that the address belongs to; a choice where it has several.
      const { url, providers = [] } = machine.features().homeRealm
        ? await machine.call<CompanySignIn>('pages', 'beginSignIn', { identifier, callbackUrl: target() })
        : {}
      if (url !== undefined) return leave(url)
      const found = providers.map(({ id: realm, name, type }) => ({
        id: realm,
        name,
        type,
        submit: undefined,
        fields: [],
        identifier: undefined,
      }))
      await actions.go('method', { identifier, realms: found.length > 0 ? found : undefined })
      return undefined
    },
    async submit(method, values) {
      waiting?.abort()
      if (method.type === 'webauthn') {
        const email = couldBe('email', machine.get().data?.identifier ?? '') ? machine.get().data?.identifier : undefined
        return follow(
          await client.signInWithPasskey({ provider: method.id, redirectTo: target(), redirect: false, ...(email && { email }) }),
        )
      }
      const run = async (): Promise<Problem | undefined> =>
        follow(await client.signIn(method.id, { ...values, redirectTo: target(), redirect: false }), method, run)
      return run()
    },
    async signUp({ email = '', password = '', name }) {
      await machine.call('passwords', 'signUp', { email, password, ...(name && { name }), callbackUrl: target() })
      // The answer is the same for every address. The message is sent again by the same form: the password is not kept for it.
      await actions.go('mailed', { identifier: email.trim(), again: undefined })
      return undefined
    },
    async registerPasskey(method, email) {
      return follow(await client.registerPasskey({ provider: method.id, redirectTo: target(), redirect: false, email }))
    },
    async requestReset({ email = '' }) {
      const run = async (): Promise<undefined> => void (await machine.call('passwords', 'requestReset', { email, callbackUrl: target() }))
      await run()
      await actions.go('mailed', { identifier: email.trim(), again: run })
      return undefined
    },
    async arrive(url) {
      const query = new URL(url, 'https://page').searchParams
      const error = query.get('error') ?? undefined
      return follow({ ok: error === undefined, status: 200, url, error, code: query.get('code') ?? undefined })
    },
    finish(url) {
      waiting?.abort()
      const { onSignedIn } = readProps()
      if (onSignedIn) onSignedIn(url)
      else leave(url)
    },
  }

  // Where the host has a sign-in page of its own, the server leads there with the page that was wanted, or with what went wrong.
  const query = (name: string): string | undefined => new URLSearchParams(globalThis.location?.search).get(name) ?? undefined
  const target = (): string => readProps().redirectTo ?? query('callbackUrl') ?? globalThis.location?.href ?? '/'

  async function loadStep(step: SignInStep): Promise<void> {
    if (step !== 'identifier' && step !== 'method') actions.drawStep ??= (await import('./sign-in-steps.ts')).drawStep
  }

  /** Goes on where a sign-in led: another step of this part, a page of the server, or the provider. */
  async function follow(
    result: FlowResult | undefined,
    method?: Method,
    run?: () => Promise<Problem | undefined>,
  ): Promise<Problem | undefined> {
    if (!result) return undefined
    const { texts } = machine.get()
    if (!result.ok) return problemOfResult(result, texts, readProps().texts)
    const { base, codes } = nextStep(result.url)
    const step = result.url.slice(base.length).split(/[?#]/)[0]
    if (step === '/two-factor' && machine.hasMethod('twoFactor', 'getQuestion')) {
      const question = await machine.call<FactorQuestion | null>('twoFactor', 'getQuestion')
      if (question) return actions.go('factor', { question })
    }
    if (codes && method) return actions.go('code', { codes, again: run, ...typedBy(method) })
    if (step === '/verify-request' || step === '/passwords/mailed')
      return actions.go('mailed', { again: method?.type === 'passwords' ? undefined : run })
    if (result.url.startsWith(`${base}/`) || method?.type === 'oauth' || method?.type === 'oidc') return leave(result.url)
    return void actions.finish(result.url)
  }

  function nextStep(url: string): { base: string; codes: 'codes' | 'phone' | undefined } {
    const base = machine.get().data?.base ?? ''
    const path = url.slice(base.length).split(/[?#]/)[0]
    const codes = url.startsWith(base) && (path === '/codes' ? 'codes' : path === '/phone' ? 'phone' : undefined)
    return { base, codes: codes && machine.hasMethod(codes, 'verify') ? codes : undefined }
  }

  function typedBy({ identifier }: Method): Partial<SignInData> {
    const input = identifier && document.getElementById(id)?.querySelector<HTMLInputElement>(`[name="${CSS.escape(identifier.name)}"]`)
    return input?.value ? { identifier: input.value.trim() } : {}
  }

  /** Offers passkeys in the autofill of the first field until one is chosen, or another method is used. */
  async function offerAutofill(methods: readonly Method[]): Promise<void> {
    const method = methods.find(({ type }) => type === 'webauthn')
    if (!method || purpose !== 'signIn' || !(await supportsPasskeys(true))) return
    waiting?.abort()
    const { signal } = (waiting = new AbortController())
    try {
      const result = await client.signInWithPasskey({ provider: method.id, autofill: true, redirectTo: target(), redirect: false, signal })
      const problem = await follow(result)
      if (problem) machine.set({ problem: { ...problem, action: method.id } })
    } catch (error) {
      // Not chosen, or no longer wanted: the button still works. A refusal of the server is said.
      if (error instanceof AuthClientError) machine.set({ problem: { text: machine.say('error.failed'), action: method.id } })
    }
  }

  return {
    get: machine.get,
    getInitial: machine.getInitial,
    subscribe(listener) {
      const stop = machine.subscribe(listener)
      return () => {
        waiting?.abort()
        stop()
      }
    },
    view: (state, props) => drawSignIn(actions, state as ReturnType<typeof machine.get>, props),
  }
}

function leave(url: string): undefined {
  location.assign(url)
  // The same page with a fragment is not loaded again, and would go on showing the former user.
  if (url.includes('#')) location.reload()
}
