import { mount } from 'svelte'
import App from './App.svelte'

mount(App as never, { target: document.querySelector('#app') as HTMLElement })
