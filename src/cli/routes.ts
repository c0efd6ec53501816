/** `authkernel routes`: every path the app answers below its base path, and the plugin that brought it. */
import { loadModule } from './load.ts'
import { type Report, table, type Setting } from './report.ts'
import { lookInside, originOf } from './snapshot.ts'

/** Lists the core's routes and those of plugins. */
export async function routes(options: { auth?: string | undefined; env?: string | undefined }, setting: Setting): Promise<Report> {
  const { auth, file } = await loadModule(options, setting)
  const found = auth.inspect().routes
  const { app } = await lookInside(auth, originOf(undefined, undefined).origin)
  const { basePath } = app.settings
  const listed = found.map(({ method, path, plugin }) => ({ method, path: basePath + path, plugin }))
  const rows = listed.map(({ method, path, plugin }) => [method, path, setting.paint.faint(plugin)])
  return { data: { file, routes: listed }, lines: table(rows) }
}
