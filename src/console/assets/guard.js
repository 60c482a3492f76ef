// Acts: every button with data-act asks once more under its guard, signs in whoever has not, and sends JSON.

(() => {
  const guard = document.getElementById('guard');
  const trouble = document.getElementById('guard-trouble');
  const doIt = document.getElementById('guard-do');
  let act = null;
  let from = null;

  async function send(path, body) {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
    });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok)
      throw Object.assign(new Error(answer.error?.message ?? `answer ${response.status}`), { ...answer.error });
    return answer;
  }

  const sayTrouble = (element, error) => {
    element.textContent = error.mend ? `${error.message}. ${error.mend}` : error.message;
    element.hidden = false;
  };

  const signIn = (form) => send('/api/sign-in', Object.fromEntries(new FormData(form)));

  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('[data-act]');
    if (!button || button.disabled) return;
    if ('plain' in button.dataset) {
      send(button.dataset.act).then(
        () => location.reload(),
        () => location.reload(),
      );
      return;
    }
    act = button.dataset.act;
    from = button.id;
    document.getElementById('guard-ask').textContent = button.dataset.ask;
    document.getElementById('guard-told').textContent = button.dataset.told ?? '';
    doIt.textContent = button.dataset.do ?? 'Do it';
    trouble.hidden = true;
    guard.showModal();
    (guard.querySelector('input[name=token]') ?? doIt).focus();
  });

  document.getElementById('guard-leave').addEventListener('click', () => guard.close());
  // The button may have been drawn anew since.
  guard.addEventListener('close', () => document.getElementById(from)?.focus());

  guard.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    doIt.disabled = true;
    trouble.hidden = true;
    const form = event.currentTarget;
    const fresh = document.body.dataset.signed !== 'yes';
    try {
      if (fresh) await signIn(form);
      await send(act);
      guard.close();
      if (fresh) location.reload();
      else document.dispatchEvent(new Event('room-changed'));
    } catch (error) {
      sayTrouble(trouble, error);
    } finally {
      doIt.disabled = false;
    }
  });

  const page = document.getElementById('sign-in');
  if (!page) return;
  page.addEventListener('submit', async (event) => {
    event.preventDefault();
    const told = document.getElementById('sign-in-trouble');
    told.hidden = true;
    try {
      await signIn(page);
      location.replace(page.dataset.next);
    } catch (error) {
      sayTrouble(told, error);
    }
  });
  // A link from elsewhere arrives without the strict cookie; asked from here, it is sent.
  fetch('/api/session')
    .then((response) => response.json())
    .then(({ signedIn }) => signedIn && location.replace(page.dataset.next))
    .catch(() => {});
})();
