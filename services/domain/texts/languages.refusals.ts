// The sentences that a user reads in place of a code, by language: a login shows them. languages.ts says how to add a language.

export interface RefusalSentences {
  /** The number or address is not valid, is not served, or cannot be reached. */
  unreachable: string
  tooMany: string
  later: string
}

const traditionalChinese: RefusalSentences = {
  unreachable: '我們無法將驗證碼傳送至此號碼或地址。',
  tooMany: '您要求的驗證碼過多。請稍後再試。',
  later: '目前無法傳送驗證碼。請稍後再試。',
}

const norwegian: RefusalSentences = {
  unreachable: 'Vi kan ikke sende en kode til dette nummeret eller denne adressen.',
  tooMany: 'Du har bedt om for mange koder. Prøv igjen senere.',
  later: 'Vi kan ikke sende en kode akkurat nå. Prøv igjen senere.',
}

/** By BCP 47 tag: the same tags as in languages.ts, in the same order. */
export const REFUSAL_SENTENCES: Readonly<Record<string, RefusalSentences>> = {
  en: {
    unreachable: 'We could not send a code to this number or address.',
    tooMany: 'You have asked for too many codes. Please try again later.',
    later: 'We cannot send a code right now. Please try again later.',
  },
  ar: {
    unreachable: 'تعذّر إرسال رمز إلى هذا الرقم أو العنوان.',
    tooMany: 'لقد طلبت رموزًا كثيرة جدًا. يُرجى المحاولة لاحقًا.',
    later: 'لا يمكننا إرسال رمز الآن. يُرجى المحاولة لاحقًا.',
  },
  bg: {
    unreachable: 'Не успяхме да изпратим код на този номер или адрес.',
    tooMany: 'Поискахте твърде много кодове. Опитайте отново по-късно.',
    later: 'В момента не можем да изпратим код. Опитайте отново по-късно.',
  },
  bn: {
    unreachable: 'এই নম্বর বা ঠিকানায় কোড পাঠানো যায়নি।',
    tooMany: 'আপনি অনেক বেশি কোড চেয়েছেন। পরে আবার চেষ্টা করুন।',
    later: 'এখন কোড পাঠানো যাচ্ছে না। পরে আবার চেষ্টা করুন।',
  },
  ca: {
    unreachable: 'No hem pogut enviar cap codi a aquest número o adreça.',
    tooMany: 'Has demanat massa codis. Torna-ho a provar més tard.',
    later: 'Ara mateix no podem enviar cap codi. Torna-ho a provar més tard.',
  },
  cs: {
    unreachable: 'Na toto číslo nebo adresu se nepodařilo kód odeslat.',
    tooMany: 'Vyžádali jste si příliš mnoho kódů. Zkuste to později.',
    later: 'Kód teď nelze odeslat. Zkuste to později.',
  },
  da: {
    unreachable: 'Vi kunne ikke sende en kode til dette nummer eller denne adresse.',
    tooMany: 'Du har bedt om for mange koder. Prøv igen senere.',
    later: 'Vi kan ikke sende en kode lige nu. Prøv igen senere.',
  },
  de: {
    unreachable: 'Wir konnten an diese Nummer oder Adresse keinen Code senden.',
    tooMany: 'Sie haben zu viele Codes angefordert. Bitte versuchen Sie es später erneut.',
    later: 'Wir können gerade keinen Code senden. Bitte versuchen Sie es später erneut.',
  },
  el: {
    unreachable: 'Δεν ήταν δυνατή η αποστολή κωδικού σε αυτόν τον αριθμό ή τη διεύθυνση.',
    tooMany: 'Ζητήσατε πάρα πολλούς κωδικούς. Δοκιμάστε ξανά αργότερα.',
    later: 'Δεν μπορούμε να στείλουμε κωδικό αυτή τη στιγμή. Δοκιμάστε ξανά αργότερα.',
  },
  es: {
    unreachable: 'No hemos podido enviar un código a este número o dirección.',
    tooMany: 'Has pedido demasiados códigos. Inténtalo de nuevo más tarde.',
    later: 'Ahora no podemos enviar un código. Inténtalo de nuevo más tarde.',
  },
  et: {
    unreachable: 'Sellele numbrile või aadressile ei õnnestunud koodi saata.',
    tooMany: 'Olete küsinud liiga palju koode. Proovige hiljem uuesti.',
    later: 'Praegu ei saa koodi saata. Proovige hiljem uuesti.',
  },
  fa: {
    unreachable: 'ارسال کد به این شماره یا نشانی ممکن نشد.',
    tooMany: 'تعداد کدهای درخواستی شما زیاد است. بعداً دوباره تلاش کنید.',
    later: 'اکنون نمی‌توانیم کد ارسال کنیم. بعداً دوباره تلاش کنید.',
  },
  fi: {
    unreachable: 'Koodia ei voitu lähettää tähän numeroon tai osoitteeseen.',
    tooMany: 'Olet pyytänyt liian monta koodia. Yritä myöhemmin uudelleen.',
    later: 'Koodia ei voida lähettää juuri nyt. Yritä myöhemmin uudelleen.',
  },
  fil: {
    unreachable: 'Hindi kami makapagpadala ng code sa numero o address na ito.',
    tooMany: 'Masyadong maraming code ang hiniling mo. Subukan ulit mamaya.',
    later: 'Hindi kami makapagpadala ng code ngayon. Subukan ulit mamaya.',
  },
  fr: {
    unreachable: 'Nous n’avons pas pu envoyer de code à ce numéro ou à cette adresse.',
    tooMany: 'Vous avez demandé trop de codes. Veuillez réessayer plus tard.',
    later: 'Nous ne pouvons pas envoyer de code pour le moment. Veuillez réessayer plus tard.',
  },
  he: {
    unreachable: 'לא הצלחנו לשלוח קוד למספר או לכתובת האלה.',
    tooMany: 'ביקשת יותר מדי קודים. כדאי לנסות שוב מאוחר יותר.',
    later: 'אי אפשר לשלוח קוד כרגע. כדאי לנסות שוב מאוחר יותר.',
  },
  hi: {
    unreachable: 'इस नंबर या पते पर कोड नहीं भेजा जा सका।',
    tooMany: 'आपने बहुत ज़्यादा कोड माँगे हैं। कृपया बाद में फिर कोशिश करें।',
    later: 'अभी कोड नहीं भेजा जा सकता। कृपया बाद में फिर कोशिश करें।',
  },
  hr: {
    unreachable: 'Nismo mogli poslati kôd na ovaj broj ili adresu.',
    tooMany: 'Zatražili ste previše kodova. Pokušajte ponovno kasnije.',
    later: 'Trenutačno ne možemo poslati kôd. Pokušajte ponovno kasnije.',
  },
  hu: {
    unreachable: 'Erre a számra vagy címre nem sikerült kódot küldeni.',
    tooMany: 'Túl sok kódot kért. Próbálja újra később.',
    later: 'Most nem tudunk kódot küldeni. Próbálja újra később.',
  },
  id: {
    unreachable: 'Kami tidak dapat mengirim kode ke nomor atau alamat ini.',
    tooMany: 'Anda meminta terlalu banyak kode. Coba lagi nanti.',
    later: 'Kami tidak dapat mengirim kode saat ini. Coba lagi nanti.',
  },
  it: {
    unreachable: 'Non è stato possibile inviare un codice a questo numero o indirizzo.',
    tooMany: 'Hai richiesto troppi codici. Riprova più tardi.',
    later: 'Al momento non possiamo inviare un codice. Riprova più tardi.',
  },
  ja: {
    unreachable: 'この番号またはアドレスにコードを送信できませんでした。',
    tooMany: 'コードのリクエストが多すぎます。しばらくしてからもう一度お試しください。',
    later: '現在コードを送信できません。しばらくしてからもう一度お試しください。',
  },
  ko: {
    unreachable: '이 번호나 주소로 코드를 보낼 수 없습니다.',
    tooMany: '코드를 너무 많이 요청했습니다. 나중에 다시 시도해 주세요.',
    later: '지금은 코드를 보낼 수 없습니다. 나중에 다시 시도해 주세요.',
  },
  lt: {
    unreachable: 'Nepavyko išsiųsti kodo šiuo numeriu ar adresu.',
    tooMany: 'Paprašėte per daug kodų. Bandykite vėliau.',
    later: 'Šiuo metu negalime išsiųsti kodo. Bandykite vėliau.',
  },
  lv: {
    unreachable: 'Uz šo numuru vai adresi neizdevās nosūtīt kodu.',
    tooMany: 'Jūs pieprasījāt pārāk daudz kodu. Mēģiniet vēlreiz vēlāk.',
    later: 'Pašlaik nevaram nosūtīt kodu. Mēģiniet vēlreiz vēlāk.',
  },
  ms: {
    unreachable: 'Kami tidak dapat menghantar kod ke nombor atau alamat ini.',
    tooMany: 'Anda telah meminta terlalu banyak kod. Sila cuba lagi nanti.',
    later: 'Kami tidak dapat menghantar kod sekarang. Sila cuba lagi nanti.',
  },
  nb: norwegian,
  nl: {
    unreachable: 'We konden geen code naar dit nummer of adres sturen.',
    tooMany: 'Je hebt te veel codes aangevraagd. Probeer het later opnieuw.',
    later: 'We kunnen nu geen code sturen. Probeer het later opnieuw.',
  },
  no: norwegian,
  pl: {
    unreachable: 'Nie udało się wysłać kodu na ten numer lub adres.',
    tooMany: 'Zażądano zbyt wielu kodów. Spróbuj ponownie później.',
    later: 'Nie możemy teraz wysłać kodu. Spróbuj ponownie później.',
  },
  pt: {
    unreachable: 'Não foi possível enviar um código para este número ou endereço.',
    tooMany: 'Foram pedidos códigos demais. Tente novamente mais tarde.',
    later: 'Não é possível enviar um código agora. Tente novamente mais tarde.',
  },
  ro: {
    unreachable: 'Nu am putut trimite un cod la acest număr sau la această adresă.',
    tooMany: 'Ați cerut prea multe coduri. Încercați din nou mai târziu.',
    later: 'Acum nu putem trimite un cod. Încercați din nou mai târziu.',
  },
  ru: {
    unreachable: 'Не удалось отправить код на этот номер или адрес.',
    tooMany: 'Вы запросили слишком много кодов. Попробуйте позже.',
    later: 'Сейчас мы не можем отправить код. Попробуйте позже.',
  },
  sk: {
    unreachable: 'Na toto číslo alebo adresu sa nepodarilo odoslať kód.',
    tooMany: 'Vyžiadali ste si príliš veľa kódov. Skúste to neskôr.',
    later: 'Kód teraz nemožno odoslať. Skúste to neskôr.',
  },
  sl: {
    unreachable: 'Na to številko ali naslov nismo mogli poslati kode.',
    tooMany: 'Zahtevali ste preveč kod. Poskusite znova pozneje.',
    later: 'Kode trenutno ne moremo poslati. Poskusite znova pozneje.',
  },
  sr: {
    unreachable: 'Нисмо могли да пошаљемо код на овај број или адресу.',
    tooMany: 'Затражили сте превише кодова. Покушајте поново касније.',
    later: 'Тренутно не можемо да пошаљемо код. Покушајте поново касније.',
  },
  sv: {
    unreachable: 'Vi kunde inte skicka en kod till det här numret eller den här adressen.',
    tooMany: 'Du har begärt för många koder. Försök igen senare.',
    later: 'Vi kan inte skicka en kod just nu. Försök igen senare.',
  },
  sw: {
    unreachable: 'Hatukuweza kutuma nambari kwenye namba au anwani hii.',
    tooMany: 'Umeomba nambari nyingi mno. Jaribu tena baadaye.',
    later: 'Hatuwezi kutuma nambari kwa sasa. Jaribu tena baadaye.',
  },
  th: {
    unreachable: 'เราส่งรหัสไปยังหมายเลขหรือที่อยู่นี้ไม่ได้',
    tooMany: 'คุณขอรหัสมากเกินไป โปรดลองอีกครั้งในภายหลัง',
    later: 'เราส่งรหัสไม่ได้ในขณะนี้ โปรดลองอีกครั้งในภายหลัง',
  },
  tr: {
    unreachable: 'Bu numaraya veya adrese kod gönderemedik.',
    tooMany: 'Çok fazla kod istediniz. Lütfen daha sonra tekrar deneyin.',
    later: 'Şu anda kod gönderemiyoruz. Lütfen daha sonra tekrar deneyin.',
  },
  uk: {
    unreachable: 'Не вдалося надіслати код на цей номер або адресу.',
    tooMany: 'Ви запросили забагато кодів. Спробуйте пізніше.',
    later: 'Зараз ми не можемо надіслати код. Спробуйте пізніше.',
  },
  ur: {
    unreachable: 'اس نمبر یا پتے پر کوڈ نہیں بھیجا جا سکا۔',
    tooMany: 'آپ نے بہت زیادہ کوڈ مانگے ہیں۔ براہ کرم بعد میں دوبارہ کوشش کریں۔',
    later: 'اس وقت کوڈ نہیں بھیجا جا سکتا۔ براہ کرم بعد میں دوبارہ کوشش کریں۔',
  },
  vi: {
    unreachable: 'Chúng tôi không thể gửi mã đến số hoặc địa chỉ này.',
    tooMany: 'Bạn đã yêu cầu quá nhiều mã. Vui lòng thử lại sau.',
    later: 'Hiện không thể gửi mã. Vui lòng thử lại sau.',
  },
  zh: {
    unreachable: '我们无法向此号码或地址发送验证码。',
    tooMany: '您请求的验证码过多。请稍后再试。',
    later: '目前无法发送验证码。请稍后再试。',
  },
  'zh-HK': traditionalChinese,
  'zh-Hant': traditionalChinese,
  'zh-TW': traditionalChinese,
}

export const refusalSentences = (locale: string): RefusalSentences =>
  REFUSAL_SENTENCES[Object.hasOwn(REFUSAL_SENTENCES, locale) ? locale : 'en'] as RefusalSentences
