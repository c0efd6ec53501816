/** What the script beside password fields says, in five languages. */
import type { Messages } from 'authkernel/kernel'

export const typingMessages: Messages = {
  en: {
    'passwords.show': 'Show',
    'passwords.hide': 'Hide',
    'passwords.short': '{n} of {min} characters',
    'passwords.weak': 'Easy to guess: vary it more',
    'passwords.fine': 'Good',
    'passwords.strong': 'Very good',
  },
  de: {
    'passwords.show': 'Zeigen',
    'passwords.hide': 'Verbergen',
    'passwords.short': '{n} von {min} Zeichen',
    'passwords.weak': 'Leicht zu erraten: wechseln Sie mehr ab',
    'passwords.fine': 'Gut',
    'passwords.strong': 'Sehr gut',
  },
  fr: {
    'passwords.show': 'Afficher',
    'passwords.hide': 'Masquer',
    'passwords.short': '{n} caractères sur {min}',
    'passwords.weak': 'Facile à deviner : variez davantage',
    'passwords.fine': 'Bon',
    'passwords.strong': 'Très bon',
  },
  es: {
    'passwords.show': 'Mostrar',
    'passwords.hide': 'Ocultar',
    'passwords.short': '{n} de {min} caracteres',
    'passwords.weak': 'Fácil de adivinar: varíela más',
    'passwords.fine': 'Buena',
    'passwords.strong': 'Muy buena',
  },
  ja: {
    'passwords.show': '表示',
    'passwords.hide': '非表示',
    'passwords.short': '{min}文字中{n}文字',
    'passwords.weak': '推測されやすいです。もっと変化をつけてください',
    'passwords.fine': '良い',
    'passwords.strong': 'とても良い',
  },
}
