import { hydrate, mount } from 'svelte'
import App from './App.svelte'

const target = document.querySelector('#app') as HTMLElement
const start = target.childElementCount > 0 ? hydrate : mount
start(App as never, { target, props: { rendered: globalThis.rendered } as never })
