#pragma once

#include <array>
#include <vector>

/// Convex polygons in the plane, counter-clockwise.
namespace carom::polygon {

using Point = std::array<double, 2>;

inline double cross(const Point& a, const Point& b) { return a[0] * b[1] - a[1] * b[0]; }
inline Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1]}; }

/// The part with normal . p <= at.
std::vector<Point> clip(const std::vector<Point>& polygon, const Point& normal, double at);

/// Likewise where `labels` has a label for the edge behind each vertex: that of the cut is `label`.
std::vector<Point> clip(const std::vector<Point>& polygon, const Point& normal, double at,
                        std::vector<int>& labels, int label);

std::vector<Point> hull(std::vector<Point> points);

/// Some of a convex polygon's vertices: none that is left out lies further than `distance` outside.
std::vector<Point> thinned(const std::vector<Point>& polygon, double distance);

double area(const std::vector<Point>& polygon);

/// [vertices, 2]
std::vector<double> flat(const std::vector<Point>& polygon);

bool contains(const std::vector<Point>& polygon, const Point& point);

/// Point of the edge behind vertex `edge`, s from 0 to 1.
Point on_edge(const std::vector<Point>& polygon, int edge, double s);

}  // namespace carom::polygon
