/** French texts of the pages. Narrow no-break spaces stand before ? ! ; and inside « ». */
import type { Texts } from './en.ts'

export const fr: Texts = {
  'signIn.title': 'Connexion',
  'signIn.heading': 'Connexion',
  'signIn.subtitle': 'pour continuer vers {site}',
  'signIn.submit': 'Se connecter avec {name}',
  'signIn.or': 'ou',
  'signIn.empty': 'Il n’est pas encore possible de se connecter ici.',
  'signIn.noScript': 'La connexion avec {name} nécessite JavaScript, qui est désactivé dans ce navigateur.',

  'signOut.title': 'Déconnexion',
  'signOut.heading': 'Déconnexion',
  'signOut.text': 'Voulez-vous vous déconnecter de {site} ?',
  'signOut.submit': 'Se déconnecter',
  'signOut.cancel': 'Rester connecté',

  'verifyRequest.title': 'Vérification de l’adresse',
  'verifyRequest.heading': 'Consultez votre messagerie',
  'verifyRequest.text': 'Nous vous avons envoyé un lien. Ouvrez-le pour terminer la connexion à {site}.',
  'verifyRequest.expires': 'Durée de validité du lien : {duration}.',
  'verifyRequest.hint': 'Vous ne voyez rien ? Regardez dans les courriers indésirables, ou {again}.',
  'verifyRequest.again': 'réessayez',

  'verifyConfirm.title': 'Confirmer la connexion',
  'verifyConfirm.heading': 'Vous y êtes presque',
  'verifyConfirm.text': 'Vous allez vous connecter à {site} en tant que',
  'verifyConfirm.submit': 'Continuer',
  'verifyConfirm.notYou':
    'Vous n’êtes pas à l’origine de cette demande ? Fermez cette page. Rien ne se passe tant que vous ne continuez pas.',

  'error.title': 'Erreur',
  'error.signIn': 'Revenir à la connexion',
  'error.code': 'Code : {code}',

  'error.default.heading': 'Un problème est survenu',
  'error.default': 'La connexion a échoué. Veuillez réessayer.',
  'error.Retry': 'Cela n’a pas fonctionné. Réessayez ou utilisez un autre compte.',
  'error.Configuration.heading': 'Connexion indisponible',
  'error.Configuration':
    'Un problème est survenu de notre côté. Réessayez plus tard. Si ce site est le vôtre, le journal du serveur contient les détails.',
  'error.AccessDenied.heading': 'Accès refusé',
  'error.AccessDenied': 'Ce compte n’est pas autorisé à se connecter ici. Si vous en avez un autre, essayez avec celui-là.',
  'error.Verification.heading': 'Ce lien n’est plus valable',
  'error.Verification': 'Il a expiré ou a déjà servi. Demandez-en un nouveau et ouvrez-le sans attendre.',
  'error.Unavailable.heading': 'Réessayez dans un instant',
  'error.Unavailable': 'L’un de nos systèmes ne répond pas pour le moment. Rien n’a été perdu.',
  'error.InvalidCheck.heading': 'Cette connexion a expiré',
  'error.InvalidCheck': 'Elle a pris trop de temps, est déjà terminée ou a commencé dans un autre navigateur. Veuillez recommencer.',
  'error.InvalidLink.heading': 'Cette adresse ne mène nulle part',
  'error.InvalidLink': 'Le lien est incomplet ou n’existe plus. Veuillez recommencer.',
  'error.SignOutError.heading': 'Vous êtes peut-être encore connecté ailleurs',
  'error.SignOutError':
    'Vous êtes déconnecté dans ce navigateur, mais la session n’a pas pu être fermée sur le serveur. Réessayez plus tard.',
  'error.TooManyRequests.heading': 'Trop de tentatives',
  'error.TooManyRequests': 'Patientez {duration} avant de réessayer.',
  'error.CrossSite.heading': 'Cette demande ne vient pas de notre site',
  'error.CrossSite': 'Nous l’avons refusée pour votre sécurité. Veuillez recommencer ici.',
  'error.WebAuthnVerificationError.heading': 'Clé d’accès refusée',
  'error.WebAuthnVerificationError': 'La clé d’accès n’a pas pu être vérifiée. Réessayez ou connectez-vous autrement.',
  'error.OAuthSignInError': 'Le service choisi est injoignable pour le moment. Réessayez ou connectez-vous autrement.',
  'error.OAuthAccountNotLinked':
    'Un compte existe déjà avec cette adresse e-mail. Connectez-vous comme d’habitude ; vous pourrez ensuite associer d’autres comptes.',
  'error.EmailSignInError': 'L’e-mail n’a pas pu être envoyé. Vérifiez l’adresse et réessayez.',
  'error.CredentialsSignin': 'Ces informations sont incorrectes. Vérifiez votre saisie et réessayez.',
  'error.SessionRequired': 'Connectez-vous pour voir cette page.',
  'error.MissingCSRF': 'Cette page est restée ouverte trop longtemps, ou votre navigateur bloque les cookies. Veuillez réessayer.',

  'script.cancelled': 'L’opération a été annulée ou a pris trop de temps. Vous pouvez réessayer.',
  'script.failed': 'Cela n’a pas fonctionné. Veuillez réessayer.',
  'script.known': 'Cet appareil possède déjà une clé d’accès pour ce compte.',
  'script.unsupported': 'Ce navigateur ne prend pas en charge les clés d’accès.',

  'text:Email': 'E-mail',
  'text:Email address': 'Adresse e-mail',
  'text:Password': 'Mot de passe',
  'text:Username': 'Nom d’utilisateur',
  'text:Name': 'Nom',
  'text:Code': 'Code',
  'text:you@example.com': 'nom@exemple.fr',
}
