/** Parts that are made of sections: the account, an organization, API keys. Each section asks the server for what it shows, and is loaded when it is offered. */
import type { PageClient } from 'authkernel/client'
import { createMachine, type Machine, type PartInstance, type PartProps, type PartState } from './machine.ts'
import { el, type PartNode } from './node.ts'
import { createSignIn } from './sign-in.ts'
import { drawButton, drawFrame, drawSection } from './view.ts'

/** What a part of sections knows: by section, what that one read. */
export type SectionData = Readonly<Record<string, unknown>>
/** One section. */
export interface Section<D = unknown> {
  readonly id: string
  /** What it shows; undefined: it is not for this user. Throws what the server rejects. */
  load(machine: Machine<SectionData>): Promise<D | undefined>
  draw(machine: Machine<SectionData>, data: D): (PartNode | undefined)[]
}
/** Which sections there are, by what the server offers. */
export type FindSections = (machine: Machine<SectionData>) => Promise<readonly Section[]>

/** What a section could not read. */
const unreadable = Symbol('unreadable')

/** A part of sections on a page. Signed-out visitors get `SignIn` in its place. */
export function createSections<P extends PartProps>(
  page: PageClient,
  id: string,
  readProps: () => P,
  part: string,
  find: FindSections,
): PartInstance<P> {
  let sections: readonly Section[] = []
  const read = async (own: Machine<SectionData>): Promise<SectionData> => {
    if (page.store.get().status !== 'authenticated') return {}
    sections = await find(own)
    // One section that cannot be shown does not take the others with it.
    const load = async (section: Section): Promise<[string, unknown]> => [section.id, await section.load(own).catch(() => unreadable)]
    return Object.fromEntries(await Promise.all(sections.map(load)))
  }
  const machine = createMachine(page, id, readProps, read, async (...given) => (await import('./proof.ts')).createProof(...given))
  const signIn = createSignIn(page, `${id}-sign-in`, () => ({ ...readProps(), onSignedIn: () => {} }))

  return {
    get: machine.get,
    getInitial: machine.getInitial,
    subscribe(listener) {
      let stopProof: (() => void) | undefined
      let watched: unknown
      let stopSignIn: (() => void) | undefined
      let asking = false
      // The nested part is drawn again by a new state of this one.
      const redraw = (): void => machine.set({})
      const stop = machine.subscribe(() => {
        const { proof, session } = machine.get()
        if (proof?.part !== watched) {
          watched = proof?.part
          stopProof?.()
          stopProof = proof?.part.subscribe(redraw)
        }
        const asks = session.status === 'unauthenticated'
        // Before the nested part begins: its first state draws this one again.
        if (asks !== asking && session.status !== 'loading') {
          asking = asks
          stopSignIn?.()
          stopSignIn = asks ? signIn.subscribe(redraw) : undefined
        }
        listener()
      })
      return () => {
        stop()
        stopProof?.()
        stopSignIn?.()
      }
    },
    view(given, props) {
      const state = given as PartState<SectionData>
      const { session, data, proof } = state
      if (session.status === 'unauthenticated')
        return el('div', { id, 'data-part': part }, signIn.view(signIn.get(), { ...props, onSignedIn: () => {} }))
      return drawFrame(machine, part, () => [
        proof && drawProof(machine, proof, props),
        sections.flatMap((section) => {
          const found = data?.[section.id]
          if (found === undefined) return []
          if (found === unreadable) return drawSection(machine, { id: section.id, title: machine.say('error.section') })
          return section.draw(machine, found).filter((node) => node !== undefined)
        }),
      ])
    },
  }
}

/** Reads one section again. */
export async function reloadSection(machine: Machine<SectionData>, section: Section): Promise<void> {
  machine.setData({ [section.id]: await section.load(machine) })
}

function drawProof(machine: Machine<unknown>, { part, cancel }: NonNullable<PartState<unknown>['proof']>, props: PartProps): PartNode {
  return el('div', { key: 'proof', 'data-proof': true, role: 'group', 'aria-label': machine.say('proof.title') }, [
    part.view(part.get(), props),
    drawButton(machine, { action: 'cancel-proof', tone: 'quiet', text: machine.say('cancel'), run: cancel }),
  ])
}
