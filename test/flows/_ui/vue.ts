import { make } from './vue-app.ts'

const root = document.querySelector('#app') as HTMLElement
make(globalThis.rendered, root.childElementCount > 0).mount(root)
