#include "row_block.hpp"

namespace bsvm {

RowData::RowData(Index p, Index q, Index rows)
    : c(Mat::Zero(p, rows + 3)), z(q, rows), y(rows), weight(rows), offset(rows) {}

RowBlock::RowBlock(Index width, Index q, Index rows, Index groups)
    : p(width), own(p, q, rows), centred(Mat::Zero(p, q > 0 ? own.c.cols() : 0)),
      columns(Mat::Zero(p, q > 0 ? (rows + q * groups + 3) / 4 * 4 : 0)), m(rows), v(rows) {
  look_at(own, 0, 0);
}

void RowBlock::look_at(RowData& data, Index first, Index rows) {
  r = rows;
  c = data.c.data() + first * p;
  z = data.z.data() + first * data.z.rows();
  y = data.y.data() + first;
  weight = data.weight.data() + first;
  if (data.left_over.cols() > 0) left_over = data.left_over.middleRows(first, rows);
  m.head(r) = data.offset.segment(first, r);
}

}  // namespace bsvm
