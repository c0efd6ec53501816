/** The same app for Solid, without JSX. */
import type { Session } from 'authkernel'
import { SessionProvider, useSession } from 'authkernel/solid'
import { createComponent, createEffect, createSignal } from 'solid-js'
import { render } from 'solid-js/web'

function button(id: string, onclick: () => void): HTMLElement {
  return Object.assign(document.createElement('button'), { id, onclick, textContent: id })
}

function Who({ id }: { id: string }): HTMLElement {
  const { state } = useSession()
  const line = Object.assign(document.createElement('p'), { id })
  createEffect(() => {
    const { status, session } = state()
    line.textContent = status === 'authenticated' ? `Hello ${session?.user?.name}` : status
    globalThis.shown.push(line.textContent)
  })
  return line
}

function Actions(): HTMLElement[] {
  const { signIn, signOut } = useSession()
  return [
    button('in', () => void signIn('credentials', { username: 'Ann', password: 'right', redirect: false })),
    button('out', () => void signOut({ redirect: false })),
  ]
}

render(
  () => {
    const [session, setSession] = createSignal<Session | null | undefined>(globalThis.rendered)
    const act = async (): Promise<void> => void setSession((await (await fetch('/action', { method: 'POST' })).json()) as null)
    return createComponent(SessionProvider, {
      get session() {
        return session()
      },
      get children() {
        return [
          createComponent(Who, { id: 'one' }),
          createComponent(Who, { id: 'two' }),
          createComponent(Actions, {}),
          button('action', () => void act()),
          button('go', () => history.pushState(null, '', `/at/${Date.now()}`)),
        ] as never
      },
    })
  },
  document.querySelector('#app') as HTMLElement,
)
