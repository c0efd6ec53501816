/** Texts of the mark, in five languages. */
import type { Messages } from 'authkernel/kernel'

/** By language. */
export const messages: Messages = {
  en: { 'last-used.label': 'Last used on this browser' },
  de: { 'last-used.label': 'Zuletzt in diesem Browser verwendet' },
  fr: { 'last-used.label': 'Dernière méthode utilisée dans ce navigateur' },
  es: { 'last-used.label': 'Último método usado en este navegador' },
  ja: { 'last-used.label': 'このブラウザーで前回使用' },
}
