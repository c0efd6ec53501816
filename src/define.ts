/** Identity helpers: they give types to object literals and do nothing at run time. */
import type { Plugin } from './plugin.ts'

/** Types a plugin literal; the type of its face is inferred. */
export function definePlugin<Ext>(plugin: Plugin<Ext>): Plugin<Ext> {
  return plugin
}
