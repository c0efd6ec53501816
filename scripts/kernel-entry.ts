/** A plugin of the build: `authkernel/kernel` has `createKernel` from a file of its own. */

/** A file of the output, as far as it matters here. */
interface Built {
  code?: string
}
interface Building {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): unknown
}

const entry = 'kernel.mjs'
const own = 'shared/authkernel.create-kernel.mjs'

/**
 * Of a module that an app imports a name from, bundlers with code splitting take every file that it names for one that is there from the beginning,
 * also where only what is loaded later uses it. They look through `export *`: a host that imports `createKernel` alone has nothing of the rest.
 */
export const kernelEntry = {
  name: 'kernel-entry',
  generateBundle(this: Building, _: unknown, bundle: Record<string, Built>): void {
    const kernel = bundle[entry]
    if (kernel?.code === undefined) return
    const found = /(?<=[{,] )(\w+ as createKernel)(?:, | (?=\}))(?=.*? from '\.\/shared\/(.+?)';$)/m.exec(kernel.code)
    if (!found) throw new Error(`${entry} does not export createKernel from a shared file.`)
    const [line, name, file] = found
    this.emitFile({ type: 'asset', fileName: own, source: `export { ${name} } from './${file}';\n` })
    kernel.code = `export * from './${own}';\n${kernel.code.replace(line, '')}`
  },
}
