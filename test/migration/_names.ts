/** What modules export, types included, as the TypeScript compiler sees it. */
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../_sources.ts'

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
  config: { compilerOptions: object }
}
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)

/** Names by file; paths are relative to the root. */
export function namesOf(files: readonly string[]): (file: string) => string[] {
  const program = ts.createProgram(
    files.map((file) => join(root, file)),
    { ...options, baseUrl: root, noEmit: true, declaration: false, isolatedDeclarations: false },
  )
  const checker = program.getTypeChecker()
  return (file) => {
    const source = program.getSourceFile(join(root, file))
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} is no module`)
    return checker.getExportsOfModule(module).map(({ name }) => name)
  }
}
