for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.querySelectorAll('thead th')];
  heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
    const down = head.getAttribute('aria-sort') !== 'descending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const value = row => Number(row.cells[column].dataset.value);
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return down ? y - x : x - y;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  }));
}
