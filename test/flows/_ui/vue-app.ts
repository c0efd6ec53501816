/** The same app for Vue, without templates. */
import type { Session } from 'authkernel'
import { sessionPlugin, useSession } from 'authkernel/vue'
import { type App, createApp, createSSRApp, defineComponent, h } from 'vue'

const Who = defineComponent({
  props: { id: String },
  setup(props) {
    const { state } = useSession()
    return () => {
      const { status, session } = state.value
      const text = status === 'authenticated' ? `Hello ${session.user?.name}` : status
      globalThis.shown?.push(text)
      return h('p', { id: props.id }, text)
    }
  },
})
const Root = defineComponent({
  setup() {
    const { signIn, signOut, set } = useSession()
    const act = async (): Promise<void> => set((await (await fetch('/action', { method: 'POST' })).json()) as Session | null)
    return () => [
      h(Who, { id: 'one' }),
      h(Who, { id: 'two' }),
      h('button', { id: 'in', onClick: () => void signIn('credentials', { username: 'Ann', password: 'right', redirect: false }) }, 'in'),
      h('button', { id: 'out', onClick: () => void signOut({ redirect: false }) }, 'out'),
      h('button', { id: 'action', onClick: () => void act() }, 'action'),
      h('button', { id: 'go', onClick: () => history.pushState(null, '', `/at/${Date.now()}`) }, 'go'),
    ]
  },
})

export function make(session: Session | null | undefined, rendered: boolean): App {
  return (rendered ? createSSRApp : createApp)(Root).use(sessionPlugin({ session }))
}
