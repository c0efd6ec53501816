/** The registry file of shadcn/ui: `npx shadcn add ./node_modules/authkernel/dist/shadcn.json`. */
import { readFileSync } from 'node:fs'

/** The item as JSON: one file that becomes the app's own, with the components that it is made of. */
export function shadcnItem(root: string): string {
  const content = readFileSync(`${root}/src/react/shadcn/authkernel.tsx`, 'utf8')
  const item = {
    $schema: 'https://ui.shadcn.com/schema/registry-item.json',
    name: 'authkernel',
    type: 'registry:component',
    title: 'authkernel',
    description: 'Sign-in, account, organizations and API keys with your components.',
    dependencies: ['authkernel'],
    registryDependencies: ['button', 'card', 'input', 'label'],
    files: [{ path: 'components/authkernel.tsx', type: 'registry:component', target: 'components/authkernel.tsx', content }],
  }
  return `${JSON.stringify(item, undefined, 2)}\n`
}
