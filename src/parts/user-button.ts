/** Who is signed in, with a way to the account and out; else a button that leads to the sign-in page. */
import type { PageClient } from 'authkernel/client'
import { createMachine, type PartInstance, type PartProps, type PartState } from './machine.ts'
import { el, type PartEvent } from './node.ts'
import { drawButton, drawFrame } from './view.ts'

/** Properties of `UserButton`. */
export interface UserButtonProps extends PartProps {
  /** Address of the account page; without it there is no link to one. */
  accountUrl?: string | undefined
  /** Address of your sign-in page; default: the built-in one. */
  signInUrl?: string | undefined
  /** Where to go after the sign-out; default: this page. */
  redirectTo?: string | undefined
}

/** A `UserButton` on a page. */
export function createUserButton(page: PageClient, id: string, readProps: () => UserButtonProps): PartInstance<UserButtonProps> {
  const machine = createMachine<object>(page, id, readProps, async () => ({}))
  const { say } = machine
  const close = (): void => machine.open(undefined)

  return {
    ...machine,
    subscribe(listener) {
      const controller = new AbortController()
      const stop = machine.subscribe(listener)
      // A click elsewhere closes the menu.
      globalThis.document?.addEventListener(
        'click',
        ({ target }) => {
          if (machine.get().opened !== undefined && !document.getElementById(id)?.contains(target as Node))
            machine.set({ opened: undefined })
        },
        controller,
      )
      return () => {
        controller.abort()
        stop()
      }
    },
    view(given, { accountUrl, signInUrl, redirectTo }) {
      const { session: state, opened } = given as PartState<object>
      // What the server rendered is shown at once.
      if (state.status === 'loading') return drawFrame(machine, 'user-button', () => [])
      const attributes = { id, 'data-part': 'user-button' }
      if (state.status === 'unauthenticated') {
        const signIn = (): unknown => (signInUrl === undefined ? page.client.signIn() : location.assign(signInUrl))
        return el('div', attributes, drawButton(machine, { action: 'sign-in', tone: 'primary', text: say('signIn.title'), run: signIn }))
      }
      const { name, email, image } = state.session.user ?? {}
      const label = name ?? email ?? ''
      const menu = `${id}-menu`
      return el(
        'div',
        attributes,
        [
          el(
            'button',
            {
              key: 'opener',
              type: 'button',
              'data-opener': true,
              'aria-expanded': opened ? 'true' : 'false',
              'aria-controls': menu,
              'aria-label': say('account.menu', { name: label }),
            },
            [
              image
                ? el('img', { src: image, alt: '', referrerpolicy: 'no-referrer', 'data-avatar': true })
                : el('span', { 'data-avatar': true, 'aria-hidden': 'true' }, initialsOf(label)),
              el('span', { 'data-name': true }, label),
            ],
            { click: () => machine.open(opened ? undefined : 'menu') },
          ),
          el('div', { key: 'menu', id: menu, hidden: !opened, 'data-menu': true, 'data-opened': 'menu' }, [
            el('p', {}, [el('bdi', {}, label), email && email !== label && el('small', {}, email)]),
            el('ul', {}, [
              accountUrl !== undefined && el('li', { key: 'account' }, el('a', { href: accountUrl }, say('account.title'))),
              el(
                'li',
                { key: 'sign-out' },
                drawButton(machine, {
                  action: 'sign-out',
                  tone: 'quiet',
                  text: say('signOut'),
                  run: () =>
                    machine.act('sign-out', async () => void (await page.client.signOut(redirectTo === undefined ? {} : { redirectTo }))),
                }),
              ),
            ]),
          ]),
        ],
        { keydown: ({ key }: PartEvent) => key === 'Escape' && opened && close() },
      )
    },
  }
}

/** "Ada Lovelace" is AL. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s@._-]+/).filter(Boolean)
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}
