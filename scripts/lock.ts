/**
 * Completes package-lock.json, or the lock files named as arguments, after `npm install`: packages for other platforms that the registry at hand does not carry get an entry too.
 * Without one `npm ci` stops with "Missing: … from lock file", although no such package would be installed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Entry {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}
/** The part of a lock file that is read here. */
export interface Lock {
  packages: Record<string, Entry>
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']

/** Optional packages that some entry names and that have no entry: path in node_modules to version. */
export function missingOptionals({ packages }: Lock): Record<string, Entry> {
  const missing: Record<string, Entry> = {}
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const found = folders(path).some((folder) => `${folder}node_modules/${name}` in packages)
      if (!found && /^\d/.test(version))
        missing[`node_modules/${name}`] = { version, ...(dev && { dev }), optional: true, ...platform(name) }
    }
  }
  return missing
}

/** Folders whose node_modules a package can see, the nearest first. */
function folders(path: string): string[] {
  const parts = path === '' ? [] : path.split('node_modules/').slice(1)
  return [
    ...parts.map(
      (_, i) =>
        `${parts
          .slice(0, parts.length - i)
          .map((part) => `node_modules/${part}`)
          .join('')}/`,
    ),
    '',
  ]
}

// Names of binary packages say where they run: binding-linux-arm64-musl.
function platform(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/)
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  if (os.length === 0 && cpu.length === 0)
    throw new Error(`${name} is not in the registry, and its name does not tell the platform it is for`)
  const libc = words.includes('musl')
    ? ['musl']
    : os.includes('linux') && words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : undefined
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }), ...(libc && { libc }) }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const named = process.argv.slice(2)
  for (const file of named.length > 0 ? named : [fileURLToPath(new URL('../package-lock.json', import.meta.url))]) {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock
    const missing = missingOptionals(lock)
    const sorted = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
    console.log(`${file}: ${Object.keys(missing).length} entries added`)
  }
}
