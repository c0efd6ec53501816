/**
 * Writes what is in the package: `dist/sbom.cdx.json`, CycloneDX 1.5, of the dependencies and of what `dist/` has in itself. Runs before packing. `npm sbom`
 * is not used: it leaves out dependencies that development uses too, or fails over peers that are not installed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

interface Component {
  type: 'library'
  'bom-ref': string
  name: string
  version: string
  purl: string
  scope?: 'required'
  hashes?: { alg: 'SHA-512'; content: string }[]
  licenses: { license: { id: string } }[]
  properties?: { name: string; value: string }[]
}
/** The parts of CycloneDX that are written. */
export interface Bill {
  bomFormat: 'CycloneDX'
  specVersion: '1.5'
  version: 1
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}
interface Locked {
  version: string
  integrity?: string
  license?: string
  dependencies?: Record<string, string>
}

/** The same for all who have the same lock file. */
export function billOfMaterials(): Bill {
  const { packages } = json<{ packages: Record<string, Locked> }>('package-lock.json')
  const own = json<{ name: string; version: string; license: string; dependencies: Record<string, string> }>('package.json')
  const component = componentOf(own.name, own)
  const found = new Map<string, Component>()
  const dependencies: Bill['dependencies'] = []
  const add = (ref: string, wanted: Record<string, string> = {}): void => {
    const names = Object.keys(wanted).sort()
    const children = names.map((name) => {
      const locked = packages[`node_modules/${name}`]
      if (!locked) throw new Error(`package-lock.json has no node_modules/${name}: run npm install.`)
      return { known: found.has(refOf(name, locked.version)), child: componentOf(name, locked), locked }
    })
    dependencies.push({ ref, dependsOn: children.map(({ child }) => child['bom-ref']) })
    for (const { known, child, locked } of children) {
      found.set(child['bom-ref'], child)
      if (!known) add(child['bom-ref'], locked.dependencies)
    }
  }
  add(component['bom-ref'], own.dependencies)
  const inside = bundled().filter((each) => !found.has(each['bom-ref']))
  dependencies[0]?.dependsOn.push(...inside.map((each) => each['bom-ref']))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components: [...found.values(), ...inside],
    dependencies,
  }
}

/** Packages whose code is in `dist/`: those of docs/licenses.md. */
function bundled(): Component[] {
  const rows = readFileSync(`${root}docs/licenses.md`, 'utf8').matchAll(/^\| `([@\w./-]+)` \| ([\w.-]+) \|/gm)
  return [...rows].map(([, name = '', version = '']) => ({
    ...componentOf(name, { version, license: 'MIT' }),
    properties: [{ name: 'authkernel:bundled', value: 'true' }],
  }))
}

function componentOf(name: string, { version, integrity, license = 'MIT' }: Omit<Locked, 'dependencies'>): Component {
  const content = integrity?.startsWith('sha512-') ? Buffer.from(integrity.slice(7), 'base64').toString('hex') : undefined
  return {
    type: 'library',
    'bom-ref': refOf(name, version),
    name,
    version,
    purl: refOf(name, version),
    scope: 'required',
    ...(content && { hashes: [{ alg: 'SHA-512', content }] }),
    licenses: [{ license: { id: license } }],
  }
}

function refOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}
function json<T>(path: string): T {
  return JSON.parse(readFileSync(root + path, 'utf8')) as T
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bill = billOfMaterials()
  writeFileSync(`${root}dist/sbom.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`)
  console.log(`dist/sbom.cdx.json: ${bill.components.length} packages`)
}
