/** Two components that show one session, and an action of the server. */
import type { Session } from 'authkernel'
import { SessionProvider, useSession } from 'authkernel/react'
import { createElement as h, type FunctionComponent, useState } from 'react'

declare global {
  // oxlint-disable-next-line no-var -- the page sets them before the script runs
  var shown: string[], rendered: Session | null | undefined
}

const Who: FunctionComponent<{ id: string }> = ({ id }) => {
  const { status, session } = useSession()
  const text = status === 'authenticated' ? `Hello ${session.user?.name}` : status
  globalThis.shown?.push(text)
  return h('p', { id }, text)
}

const Actions: FunctionComponent = () => {
  const { signIn, signOut } = useSession()
  return h(
    'div',
    null,
    h('button', { id: 'in', onClick: () => void signIn('credentials', { username: 'Ann', password: 'right', redirect: false }) }, 'in'),
    h('button', { id: 'out', onClick: () => void signOut({ redirect: false }) }, 'out'),
  )
}

export const App: FunctionComponent<{ session: Session | null | undefined }> = ({ session: first }) => {
  const [session, setSession] = useState(first)
  const act = async (): Promise<void> => setSession((await (await fetch('/action', { method: 'POST' })).json()) as Session | null)
  return h(
    SessionProvider,
    { session },
    h(Who, { id: 'one' }),
    h(Who, { id: 'two' }),
    h(Actions),
    h('button', { id: 'action', onClick: () => void act() }, 'action'),
    h('button', { id: 'go', onClick: () => history.pushState(null, '', `/at/${Date.now()}`) }, 'go'),
  )
}
