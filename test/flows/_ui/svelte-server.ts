import type { Session } from 'authkernel'
import { render as draw } from 'svelte/server'
import App from './App.svelte'

export const render = (session: Session | null): string => draw(App as never, { props: { rendered: session } as never }).body
