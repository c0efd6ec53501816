/** What all parts share: their state, the texts, one action at a time, and what went wrong with it. */
import type { Features } from 'authkernel'
import { AuthClientError, type PageClient, type SessionState } from 'authkernel/client'
import type { PartNode } from './node.ts'
import { focusInvalid, focusPart, restoreFocus, wipeSecrets } from './page-focus.ts'
import { type Problem, problemOf, needsProof } from './problem.ts'
import { en, fillText, loadTexts, type PartTexts, type TextKey } from './texts.ts'

/** Properties of every part. */
export interface PartProps {
  /** Replaces single texts. */
  texts?: PartTexts | undefined
  /** Language of the texts: `en`, `de`, `es`, `fr` or `ja`; default: `lang` of the page, else English. */
  lang?: string | undefined
}
/** State of a part. `D`: what the part itself knows. */
export interface PartState<D> {
  /** `loading` until the server has answered; `failed` when it cannot be asked. */
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly session: SessionState
  readonly texts: Readonly<Record<string, string>>
  readonly data: D | undefined
  /** Name of the action that runs. */
  readonly busy: string | undefined
  /** Name of the action that failed, and why. */
  readonly problem: (Problem & { readonly action: string }) | undefined
  /** What was done, for a status line. */
  readonly note: string | undefined
  /** Name of the form or dialog that is open. */
  readonly opened: string | undefined
  /** A fresh proof that an action waits for. */
  readonly proof: Proof | undefined
  /** Id of the password field whose text is shown. */
  readonly peek: string | undefined
}
/** The sign-in inside of another part, and what comes after it. */
export interface Proof {
  readonly part: PartInstance<PartProps>
  cancel(): void
}
/** A part that is on a page: its state can be watched, and drawn. */
export interface PartInstance<P extends PartProps> {
  /** A new object at each change. */
  get(): unknown
  /** What the server rendered. */
  getInitial(): unknown
  /** Starts the part in a browser. Returns how to stop it. */
  subscribe(listener: () => void): () => void
  /** Draws a state of this part. */
  view(state: unknown, props: P): PartNode
}

/** A part while it runs. */
export interface Machine<D> {
  /** Id of its element. */
  readonly id: string
  readonly page: PageClient
  get(): PartState<D>
  getInitial(): PartState<D>
  subscribe(listener: () => void): () => void
  set(change: Partial<PartState<D>>): void
  /** Changes what the part knows. */
  setData(change: Partial<D>): void
  say(key: TextKey | `${'error' | 'label' | 'submit'}.${string}`, values?: Readonly<Record<string, string | number>>): string
  /** What the server offers. */
  readonly features: () => Features
  hasMethod(namespace: string, name: string): boolean
  /** Calls `client.<namespace>.<name>(input)`. */
  call<T>(namespace: string, name: string, input?: object): Promise<T>
  /**
   * Runs one action; a second one is ignored meanwhile. `run` may return what is wrong. After a rejection the secrets of `form` are removed and its wrong field
   * gets the focus.
   */
  act(action: string, run: () => Promise<Problem | undefined | void>, form?: HTMLFormElement): Promise<void>
  open(name: string | undefined): void
  /** Reads again what the part shows. */
  reload(): Promise<void>
}

const nothing: Features = { methods: {}, homeRealm: false }

/** Makes the sign-in that proves who the user is; `fresh`: there is nothing to prove, so that the rejection had another reason. */
export type ProofMaker = (
  page: PageClient,
  id: string,
  readProps: () => PartProps,
  done: () => void,
) => Promise<PartInstance<PartProps> | 'fresh'>

/** Makes a part. `prove`: actions that need a fresh proof wait for it. `load` reads what it shows, at the first subscriber and for each user who signs in. */
export function createMachine<D>(
  page: PageClient,
  id: string,
  readProps: () => PartProps,
  load: (machine: Machine<D>) => Promise<D>,
  prove?: ProofMaker,
): Machine<D> {
  if (!hasMethods(page.client))
    throw new TypeError('The parts call methods of plugins: give the provider a client of createAuthClient(), not of createClient().')
  const listeners = new Set<() => void>()
  const first: PartState<D> = {
    phase: 'loading',
    session: page.store.getInitial(),
    texts: en,
    data: undefined,
    busy: undefined,
    problem: undefined,
    note: undefined,
    opened: undefined,
    proof: undefined,
    peek: undefined,
  }
  let state = first
  let features = nothing
  let loading = 0
  let stop: (() => void) | undefined
  let opener: Element | null = null

  const machine: Machine<D> = {
    id,
    page,
    get: () => state,
    getInitial: () => first,
    subscribe(listener) {
      const own = (): void => listener()
      listeners.add(own)
      if (globalThis.document) stop ??= start()
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
    set(change) {
      state = { ...state, ...change }
      for (const listener of listeners) listener()
    },
    setData: (change) => machine.set({ data: { ...(state.data as D), ...change } }),
    say: (key, values) => fillText({ ...state.texts, ...readProps().texts }, key, values),
    features: () => features,
    hasMethod: (namespace, name) => features.methods[namespace]?.includes(name) ?? false,
    async call<T>(namespace: string, name: string, input?: object): Promise<T> {
      // Methods of plugins are found by their names at run time.
      const methods = (page.client as unknown as Record<string, Record<string, (input?: object) => Promise<T>>>)[namespace] ?? {}
      return (methods[name] as (input?: object) => Promise<T>)(input)
    },
    async act(action, run, form) {
      if (state.busy !== undefined) return
      machine.set({ busy: action, problem: undefined, note: undefined })
      let problem: Problem | undefined
      try {
        problem = (await run()) ?? undefined
      } catch (error) {
        if (needsProof(error) && (await askForProof(action, run, form))) return machine.set({ busy: undefined })
        problem = problemOf(error, state.texts, readProps().texts)
      }
      machine.set({ busy: undefined, ...(problem && { problem: { ...problem, action } }) })
      if (!problem) return
      wipeSecrets(form)
      focusInvalid(id)
    },
    open(name) {
      if (name === state.opened) return
      if (name !== undefined && state.opened === undefined) opener = document.activeElement
      machine.set({ opened: name, problem: undefined })
      if (name === undefined) restoreFocus(id, opener)
      else focusPart(id, name)
    },
    async reload() {
      const own = ++loading
      const data = await load(machine)
      if (own === loading) machine.set({ data, phase: 'ready' })
    },
  }

  /** True: the action runs again after the proof. */
  async function askForProof(action: string, run: () => Promise<Problem | undefined | void>, form?: HTMLFormElement): Promise<boolean> {
    if (!prove || !machine.hasMethod('user', 'prove')) return false
    const before = userKey(page.store.get())
    const part = await prove(page, `${id}-proof`, readProps, () => {
      machine.set({ proof: undefined })
      void page.store.refresh().then((session) => {
        // Another user has signed in: what was asked for is not for that one.
        if (userKey(session) === before) void machine.act(action, run, form)
        else void machine.reload()
      })
    })
    if (part === 'fresh') return false
    machine.set({ opened: undefined, proof: { part, cancel: () => machine.set({ proof: undefined }) } })
    return true
  }

  function start(): () => void {
    // What a part shows belongs to the user, and to the organization that the user acts for.
    let user: string | undefined
    const begin = async (): Promise<void> => {
      const { lang } = readProps()
      try {
        const [texts, offered] = await Promise.all([loadTexts(lang), readFeatures(page)])
        features = offered
        machine.set({ texts })
        await machine.reload()
      } catch (error) {
        // A page that was left, and an outage: the part says that it cannot be shown.
        machine.set({ phase: 'failed', problem: { ...problemOf(error, state.texts, readProps().texts), action: 'load' } })
      }
    }
    return page.store.subscribe((session) => {
      machine.set({ session })
      const next = `${userKey(session)} ${activeOrganization(session.session)}`
      if (session.status === 'loading') return session.error && machine.set({ phase: 'failed' })
      if (next === user) return
      const isFirst = user === undefined
      user = next
      if (!isFirst)
        machine.set({ phase: 'loading', data: undefined, problem: undefined, note: undefined, opened: undefined, proof: undefined })
      void begin()
    })
  }

  return machine
}

/** A client of `createAuthClient` has a member for every namespace. */
function hasMethods(client: object): boolean {
  return (client as { pages?: unknown }).pages !== undefined
}

/** `client.pages`, of the pages of the server. */
interface PagesMethods {
  getFeatures(): Promise<Features>
}

const featuresByClient = new WeakMap<object, Promise<Features>>()

/** Asked once for a client: what a server offers does not change while a page is open. */
function readFeatures({ client }: PageClient): Promise<Features> {
  const former = featuresByClient.get(client)
  if (former) return former
  // Methods of plugins are found by their names at run time.
  const { pages } = client as unknown as { pages: PagesMethods }
  const asked = pages.getFeatures().catch((error: unknown) => {
    featuresByClient.delete(client)
    // A server of Auth.js, or one without pages: it has sign-in methods alone.
    if (error instanceof AuthClientError && error.status < 500) return nothing
    throw error
  })
  featuresByClient.set(client, asked)
  return asked
}

/** Id of the organization that a session acts for. */
export function activeOrganization(session: object | null): string | undefined {
  return (session as { organization?: { id?: string } } | null)?.organization?.id
}

function userKey({ session }: SessionState): string | undefined {
  const user = session?.user as { id?: string; email?: string | null } | undefined
  return user && (user.id ?? user.email ?? 'user')
}
